"""The interface of executors."""

from collections.abc import Iterable
from typing import Any, Protocol

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.occupancy import Occupancy
from sidecall.kernel.core.tool import CompiledTool


class Executor(Protocol):
    """Runs the function of a validated invocation."""

    @property
    def occupancy(self) -> Occupancy:
        """The executor's load."""

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Prepare for the first calls of these tools; without this they take longer.

        Raises:
            DefinitionError: One of them cannot run here.
        """

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Prepare for reloaded tools, without waiting."""

    async def run(self, invocation: Invocation) -> Any:
        """Run the tool: return its result, or raise its exception.

        Raises:
            CallRefused: There is no room for the call now, and it has not begun; the caller is told to come again.
        """

    async def close(self) -> None:
        """Release threads and processes, without waiting for stuck ones."""

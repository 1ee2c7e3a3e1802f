"""The one method behind which tools run."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from sidecall.core.invocation import Invocation
from sidecall.core.tool import CompiledTool


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Say how full an executor is at one moment.

    Attributes:
        size: How many calls it can run at once; None when it has no bound.
        busy: How many it runs, the abandoned ones included.
        waiting: How many wait for their turn.
        killed: How many processes it has killed so far, at a deadline or because the client was gone.
    """

    size: int | None = None
    busy: int = 0
    waiting: int = 0
    killed: int = 0


class Executor(Protocol):
    """Run the function of a validated invocation."""

    @property
    def occupancy(self) -> Occupancy:
        """How full it is."""

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Make ready for the first calls of these tools; without it the first calls take longer.

        Raises:
            DefinitionError: One of them cannot run here.
        """

    async def run(self, invocation: Invocation) -> Any:
        """Return what the tool returns, and raise what it raises."""

    async def close(self) -> None:
        """Give back threads and processes, without waiting for those that are stuck."""

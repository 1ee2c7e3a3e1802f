"""An executor that is created at its first use."""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.occupancy import Occupancy
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Executor


class LateExecutor:
    """Creates the real executor on first use, since most servers never need it and it loads libraries."""

    def __init__(self, size: int, make: Callable[[], Executor]) -> None:
        """Prepare; `size` is the number of concurrent calls."""
        self._size = size
        self._make = make
        self.made: Executor | None = None

    @property
    def occupancy(self) -> Occupancy:
        """The executor's load."""
        return Occupancy(size=self._size) if self.made is None else self.made.occupancy

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Prepare for these tools, if there are any.

        Raises:
            DefinitionError: One of them cannot run here.
        """
        wanted = list(tools)
        if wanted:
            await self._get().start(wanted)

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Prepare for reloaded tools, or for the first ones."""
        wanted = list(tools)
        if wanted or self.made is not None:
            self._get().follow(wanted)

    def run(self, invocation: Invocation) -> Coroutine[Any, Any, Any]:
        """Run the tool: return its result, or raise its exception."""
        return self._get().run(invocation)

    async def close(self) -> None:
        """Release the executor, if it was created."""
        if self.made is not None:
            await self.made.close()

    def _get(self) -> Executor:
        if self.made is None:
            self.made = self._make()
        return self.made

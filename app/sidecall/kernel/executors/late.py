"""An executor that is made when something first runs there."""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.occupancy import Occupancy
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Executor


class LateExecutor:
    """Stands for one, which most servers need never: what it takes is loaded along with its first tool."""

    def __init__(self, size: int, make: Callable[[], Executor]) -> None:
        """Prepare; `size` is how many calls it will run at once."""
        self._size = size
        self._make = make
        self.made: Executor | None = None

    @property
    def occupancy(self) -> Occupancy:
        """How full it is."""
        return Occupancy(size=self._size) if self.made is None else self.made.occupancy

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Make ready for these tools, if there are any.

        Raises:
            DefinitionError: One of them cannot run here.
        """
        wanted = list(tools)
        if wanted:
            await self._get().start(wanted)

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Make ready for tools that were loaded again, or are the first."""
        wanted = list(tools)
        if wanted or self.made is not None:
            self._get().follow(wanted)

    def run(self, invocation: Invocation) -> Coroutine[Any, Any, Any]:
        """Return what the tool returns, and raise what it raises."""
        return self._get().run(invocation)

    async def close(self) -> None:
        """Release what there is."""
        if self.made is not None:
            await self.made.close()

    def _get(self) -> Executor:
        if self.made is None:
            self.made = self._make()
        return self.made

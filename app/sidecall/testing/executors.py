"""Executors that live for one call, so that calls may come from any event loop."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sidecall.composition.executors import build_executors
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.options import IN_PROCESSES, ExecutorName
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Executor, InlineExecutor, Occupancy
from sidecall.kernel.executors.process.finder import Finder
from sidecall.later import Later
from sidecall.loading.offers import tools_of
from sidecall.settings import Settings

if TYPE_CHECKING:
    from sidecall.kernel.executors.process import home as _home
else:
    _home = Later("sidecall.kernel.executors.process.home")


@dataclass(frozen=True, slots=True)
class PassingExecutor:
    """Makes an executor for each call, and closes it after that."""

    make: Callable[[], Executor]

    @property
    def occupancy(self) -> Occupancy:
        """Nothing runs between calls."""
        return Occupancy()

    async def start(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing: each call starts its own."""

    def follow(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing: tools of a test are not loaded again."""

    async def run(self, invocation: Invocation) -> Any:
        """Run the tool: return its result, or raise its exception."""
        executor = self.make()
        try:
            await executor.start([invocation.tool])
            return await executor.run(invocation)
        finally:
            await executor.close()

    async def close(self) -> None:
        """Do nothing: each call closes its own."""


def make_passing(settings: Settings, tools: Iterable[CompiledTool]) -> dict[ExecutorName, Executor]:
    """Make an executor of each kind.

    Raises:
        DefinitionError: A tool that runs in a process cannot be found there.
    """
    wanting = [tool for tool in tools if tool.executor in IN_PROCESSES]
    if wanting:
        _home.refuse_unfit(wanting, Finder(tools_of))

    def make(name: ExecutorName) -> Executor:
        return InlineExecutor() if name == "inline" else PassingExecutor(lambda: build_executors(settings)[name])

    return {name: make(name) for name in build_executors(settings)}

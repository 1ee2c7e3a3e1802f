"""All kinds of executors, and how they are made."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Executor, InlineExecutor, Occupancy
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from sidecall.lazy_imports import load_function


class LateExecutor:
    """Creates the real executor on first use, since most servers never need it and it loads libraries."""

    # Whether it is also for tools that run elsewhere and use its sandbox.
    has_sandbox = False

    def __init__(self, size: int, place: str, *given: Any) -> None:
        """Prepare.

        Args:
            size: How many calls run at once.
            place: What makes the executor, as `package.module:function`, loaded on first use.
            given: What it makes it of.
        """
        self._size = size
        self._place = place
        self._given = given
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
            self.made = load_function(self._place)(*self._given)
        return self.made


Executors = Mapping[ExecutorName, Executor]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """The settings of executors; only `tools_of` has no default.

    `tools_of` is how a process lists the tools of a module, as `module:function`, `imports_once` whether one imports
    them for all where they allow it, and `memory_limit_mb` the default memory limit of a tool there.
    `max_result_bytes` bounds structured results of processes. `traces` opens spans there, as `module:function`, and
    `process_env` says which variables processes see.
    """

    tools_of: str
    threads: int = 1
    processes: int = 1
    imports_once: bool = True
    memory_limit_mb: int = 1024
    max_result_bytes: int | None = None
    traces: str | None = None
    process_env: tuple[str, ...] = ()


# Those of features come on top.
EXECUTORS: Mapping[ExecutorName, Callable[[ExecutorSettings], Executor]] = {
    "inline": lambda _: InlineExecutor(),
    "thread": lambda settings: ThreadExecutor(settings.threads),
}


def build_all(settings: ExecutorSettings) -> Executors:
    """Make one executor of each kind of the kernel."""
    return {name: make(settings) for name, make in EXECUTORS.items()}


async def start_all(executors: Executors, tools: Iterable[CompiledTool]) -> None:
    """Prepare each executor for its tools.

    Raises:
        DefinitionError: A tool cannot run where it wants to.
    """
    offered = list(tools)
    for name, executor in executors.items():
        wants_any = isinstance(executor, LateExecutor) and executor.has_sandbox
        await executor.start([it for it in offered if it.executor == name or (wants_any and it.sandbox_use)])


def follow_all(executors: Executors, tools: Iterable[CompiledTool]) -> None:
    """Prepare each executor for its reloaded tools."""
    offered = list(tools)
    for name, executor in executors.items():
        executor.follow([tool for tool in offered if tool.executor == name])


async def close_all(executors: Executors) -> None:
    """Close all executors, even if one of them fails to."""
    async with AsyncExitStack() as stack:
        close_with(stack, executors)


def close_with(stack: AsyncExitStack, executors: Executors) -> None:
    """Close them when an exit stack is closed."""
    for executor in reversed(list(executors.values())):
        stack.push_async_callback(executor.close)

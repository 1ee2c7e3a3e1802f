"""Every kind of executor, and how it is made."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sidecall.core.options import ExecutorName
from sidecall.core.tool import CompiledTool
from sidecall.executors.base import Executor
from sidecall.executors.inline import InlineExecutor
from sidecall.executors.process.executor import ProcessExecutor
from sidecall.executors.process.finder import IN_MODULES, ToolSearch
from sidecall.executors.thread import ThreadExecutor

Executors = Mapping[ExecutorName, Executor]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """What executors are made with; as it stands, enough for one call.

    `memory_limit_mb` is what a tool in a process may take unless it says otherwise, and `search` how a process finds
    the tools. `traces` says whether the spans of tools in processes go where the environment says.
    """

    threads: int = 1
    processes: int = 1
    memory_limit_mb: int = 1024
    search: ToolSearch = IN_MODULES
    traces: bool = False


def _make_process(settings: ExecutorSettings) -> ProcessExecutor:
    return ProcessExecutor(settings.processes, settings.memory_limit_mb, settings.search, traces=settings.traces)


# A new kind is a line here, and its name in `ExecutorName`.
EXECUTORS: Mapping[ExecutorName, Callable[[ExecutorSettings], Executor]] = {
    "inline": lambda _: InlineExecutor(),
    "thread": lambda settings: ThreadExecutor(settings.threads),
    "process": _make_process,
}


def build_all(settings: ExecutorSettings) -> Executors:
    """Make one executor of each kind."""
    return {name: make(settings) for name, make in EXECUTORS.items()}


async def start_all(executors: Executors, tools: Iterable[CompiledTool]) -> None:
    """Make each ready for the tools that run there.

    Raises:
        DefinitionError: A tool cannot run where it wants to.
    """
    offered = list(tools)
    for name, executor in executors.items():
        await executor.start([tool for tool in offered if tool.executor == name])


async def close_all(executors: Executors) -> None:
    """Close them, whatever they run."""
    for executor in executors.values():
        await executor.close()

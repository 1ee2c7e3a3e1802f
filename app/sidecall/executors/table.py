"""Every kind of executor, and how it is made."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from sidecall.core.options import ExecutorName
from sidecall.core.tool import CompiledTool
from sidecall.executors.base import Executor
from sidecall.executors.inline import InlineExecutor
from sidecall.executors.process.environment import choose_variables
from sidecall.executors.process.executor import ProcessExecutor
from sidecall.executors.sandbox.executor import SandboxExecutor
from sidecall.executors.sandbox.local import LocalSandbox
from sidecall.executors.thread import ThreadExecutor
from sidecall.records import dataclass

Executors = Mapping[ExecutorName, Executor]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """What executors are made with; beside `tools_of` as it stands, enough for one call.

    `tools_of` is how a process lists the tools of a module, as `module:function`, and `memory_limit_mb` what a tool may
    take there unless it says otherwise. `max_result_bytes` bounds what a process may return as structure. `traces` says
    whether the spans of tools in processes go where the environment says, and `process_env` which of its variables
    processes see.
    """

    tools_of: str
    threads: int = 1
    processes: int = 1
    memory_limit_mb: int = 1024
    max_result_bytes: int | None = None
    traces: bool = False
    process_env: tuple[str, ...] = ()
    sandbox: LocalSandbox = field(default_factory=lambda: LocalSandbox())


def _make_process(settings: ExecutorSettings) -> ProcessExecutor:
    return ProcessExecutor(
        settings.processes,
        settings.tools_of,
        settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
        traces=settings.traces,
        env=choose_variables(os.environ, settings.process_env, traces=settings.traces),
    )


def _make_sandbox(settings: ExecutorSettings) -> SandboxExecutor:
    return SandboxExecutor(
        settings.sandbox,
        settings.processes,
        settings.tools_of,
        settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
    )


# A new kind is a line here, and its name in `ExecutorName`.
EXECUTORS: Mapping[ExecutorName, Callable[[ExecutorSettings], Executor]] = {
    "inline": lambda _: InlineExecutor(),
    "thread": lambda settings: ThreadExecutor(settings.threads),
    "process": _make_process,
    "sandbox": _make_sandbox,
}


def sandbox_of(executors: Executors) -> LocalSandbox | None:
    """Return the sandbox of which one of them runs tools, None where none does."""
    found = executors.get("sandbox")
    return found.sandbox if isinstance(found, SandboxExecutor) else None


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
        wants_any = name == "sandbox"  # Which is also for tools that only use what it has.
        await executor.start([it for it in offered if it.executor == name or (wants_any and it.sandbox_use)])


def follow_all(executors: Executors, tools: Iterable[CompiledTool]) -> None:
    """Make each ready for the tools that run there and were loaded again."""
    offered = list(tools)
    for name, executor in executors.items():
        executor.follow([tool for tool in offered if tool.executor == name])


async def close_all(executors: Executors) -> None:
    """Close them, whatever they run."""
    for executor in executors.values():
        await executor.close()

"""Run one tool's calls in this process, through the same pipeline as the server."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from uuid_utils import uuid4

from sidecall.core.invocation import CallRequest, Invocation, Surroundings
from sidecall.core.messages import ToolCall
from sidecall.core.options import ExecutorName
from sidecall.core.store import Store
from sidecall.core.tool import CompiledTool
from sidecall.executors.base import Executor
from sidecall.executors.inline import InlineExecutor
from sidecall.executors.process.executor import ProcessExecutor
from sidecall.executors.thread import ThreadExecutor
from sidecall.ledger.approvals import MemoryApprovals
from sidecall.pipeline.budget import Budget
from sidecall.pipeline.pipeline import Pipeline
from sidecall.pipeline.stages import default_stages
from sidecall.registry import Registry


@dataclass(frozen=True, slots=True)
class CallInputs:
    """What comes beside a call when there is no server to supply it."""

    state: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    store: Store | None = None
    approved: bool = False


# One call needs one thread or process, and nothing of the other kinds.
_EXECUTORS: Mapping[ExecutorName, Callable[[], Executor]] = {
    "inline": InlineExecutor,
    "thread": lambda: ThreadExecutor(1),
    "process": lambda: ProcessExecutor(1),
}


async def ainvoke(tool: CompiledTool, input: ToolCall | Mapping[str, Any], beside: CallInputs) -> Any:
    """Answer a ToolCall with its ToolMessage, and plain arguments with the tool's plain result."""
    is_call = isinstance(input, ToolCall) or input.get("type") == "tool_call"
    call = _make_tool_call(tool, input, is_call)
    request = CallRequest(call, state=beside.state, context=beside.context, approved=beside.approved)
    # In a task of its own, which code that outlives its deadline may go on to cancel.
    invocation = await asyncio.create_task(_run(tool, request, beside.store))
    if is_call:
        return invocation.message
    if invocation.error is not None:
        raise invocation.error
    return invocation.output[0] if tool.options.response_format == "content_and_artifact" else invocation.output


def invoke(tool: CompiledTool, input: ToolCall | Mapping[str, Any], beside: CallInputs) -> Any:
    """Do the same from sync code, inside a running event loop too (which it blocks)."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(ainvoke(tool, input, beside))).result()


async def _run(tool: CompiledTool, request: CallRequest, store: Store | None) -> Invocation:
    executor = _EXECUTORS[tool.executor]()
    try:
        await executor.start([tool])
        stages = default_stages({tool.executor: executor}, MemoryApprovals(), _make_budget(tool))
        return await Pipeline(Registry([tool]), stages, surroundings=Surroundings(store)).invoke(tool, request)
    finally:
        await executor.close()


def _make_budget(tool: CompiledTool) -> Budget | None:
    """Make the budget that the tool names itself; no server has one for all, and none keeps the whole."""
    most = tool.options.max_content_bytes
    return None if most is None else Budget(most, lambda _: None)


def _make_tool_call(tool: CompiledTool, input: ToolCall | Mapping[str, Any], is_call: bool) -> ToolCall:
    if isinstance(input, ToolCall):
        return input
    if not is_call:
        return ToolCall(name=tool.name, args=dict(input), id=new_call_id())
    return ToolCall(name=tool.name, args=input["args"], id=str(input.get("id") or new_call_id()))


def new_call_id() -> str:
    """Make an id for a call that came without one."""
    return f"call_{uuid4().hex}"

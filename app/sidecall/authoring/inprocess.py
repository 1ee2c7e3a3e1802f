"""Run one tool's calls in this process, through the same pipeline as the server."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from uuid_utils import uuid4

from sidecall.core.invocation import CallRequest, Invocation, Surroundings
from sidecall.core.messages import ToolCall
from sidecall.core.store import Store, SyncStore
from sidecall.core.tool import CompiledTool
from sidecall.executors.table import EXECUTORS, ExecutorSettings
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
    store: Store | SyncStore | None = None
    approved: bool = False


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


async def _run(tool: CompiledTool, request: CallRequest, store: Store | SyncStore | None) -> Invocation:
    executor = EXECUTORS[tool.executor](ExecutorSettings())
    try:
        await executor.start([tool])
        stages = default_stages({tool.executor: executor}, MemoryApprovals(), _make_budget(tool))
        return await Pipeline(Registry([tool]), stages, surroundings=Surroundings(store)).invoke(tool, request)
    finally:
        await executor.close()


def _make_budget(tool: CompiledTool) -> Budget | None:
    """Make the budget that the tool names itself; no server has one for all, and none keeps the whole."""
    most = tool.options.max_content_bytes
    return None if most is None else Budget(most, _keep_nothing)


async def _keep_nothing(_body: str | bytes, _tenant: str) -> None:
    pass


def _make_tool_call(tool: CompiledTool, input: ToolCall | Mapping[str, Any], is_call: bool) -> ToolCall:
    if isinstance(input, ToolCall):
        return input
    if not is_call:
        return ToolCall(name=tool.name, args=dict(input), id=new_call_id())
    return ToolCall(name=tool.name, args=input["args"], id=str(input.get("id") or new_call_id()))


def new_call_id() -> str:
    """Make an id for a call that came without one."""
    return f"call_{uuid4().hex}"

"""Run one tool's calls in this process, through the same pipeline as the server."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from uuid_utils import uuid4

from app.core.invocation import CallRequest, Invocation
from app.core.messages import ToolCall
from app.core.store import Store
from app.core.tool import CompiledTool
from app.executors.inline import InlineExecutor
from app.executors.thread import ThreadExecutor
from app.pipeline.pipeline import Pipeline, default_stages
from app.registry import Registry


@dataclass(frozen=True, slots=True)
class Beside:
    """Hold what stands beside a call when there is no server to hold it."""

    state: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    store: Store | None = None


async def ainvoke(tool: CompiledTool, input: ToolCall | Mapping[str, Any], beside: Beside) -> Any:
    """Answer a ToolCall with its ToolMessage, and plain arguments with the tool's plain result."""
    is_call = isinstance(input, ToolCall) or input.get("type") == "tool_call"
    call = _tool_call(tool, input, is_call)
    request = CallRequest(call, state=beside.state, context=beside.context)
    invocation = await _run(tool, request, beside.store)
    if is_call:
        return invocation.message
    if invocation.failure is not None:
        raise invocation.failure
    return invocation.output[0] if tool.options.response_format == "content_and_artifact" else invocation.output


def invoke(tool: CompiledTool, input: ToolCall | Mapping[str, Any], beside: Beside) -> Any:
    """Do the same from sync code, inside a running event loop too (which it blocks)."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(ainvoke(tool, input, beside))).result()


async def _run(tool: CompiledTool, request: CallRequest, store: Store | None) -> Invocation:
    threads = ThreadExecutor(1)
    try:
        stages = default_stages({"inline": InlineExecutor(), "thread": threads})
        return await Pipeline(Registry([tool]), stages, store=store).invoke(tool, request)
    finally:
        await threads.close()


def _tool_call(tool: CompiledTool, input: ToolCall | Mapping[str, Any], is_call: bool) -> ToolCall:
    if isinstance(input, ToolCall):
        return input
    if not is_call:
        return ToolCall(name=tool.name, args=dict(input), id=new_call_id())
    return ToolCall(name=tool.name, args=input["args"], id=str(input.get("id") or new_call_id()))


def new_call_id() -> str:
    """Mint an id for a call that came without one."""
    return f"call_{uuid4().hex}"

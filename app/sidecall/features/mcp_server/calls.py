"""Run a tool, and write its answer as MCP's result."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic_core import to_json
from uuid_utils import uuid4

from sidecall.features.approvals.questions import asks_inside
from sidecall.features.approvals.steps import is_asked_about, takes_user_tokens, wants_approval
from sidecall.features.mcp_server.blocks import write_blocks
from sidecall.features.mcp_server.consent import make_call_id, resume
from sidecall.features.mcp_server.exchange import Exchange
from sidecall.features.mcp_server.mirrored import compare_mirrored
from sidecall.features.mcp_server.parts import McpParts
from sidecall.features.mcp_server.questions import answer_waiting
from sidecall.features.mcp_server.results import write_meta
from sidecall.features.mcp_server.wire import INVALID_PARAMS, RpcError, RpcMessage
from sidecall.kernel.core.context import Caller, HeaderMap
from sidecall.kernel.core.errors import cut_name
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.result_values import ABSENT, find_value, say_not_kept
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.bulk import is_bulky, is_long
from sidecall.kernel.json_data.text import read_object
from sidecall.kernel.pipeline.visible import is_surely_visible, is_visible
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.workspaces import require_conversation
from sidecall.kernel.suggest.misplaced import find_loose, find_misplaced

# Sent by the program with a call, as over REST; models do not write `_meta`.
_STATE = "sidecall/state"
_CONTEXT = "sidecall/context"
_CALL_ID = "sidecall/tool_call_id"
_HASH = "sidecall/hash"
# Fields of a tool call besides its arguments, in all revisions.
_PARAMS = frozenset("name arguments _meta task requestState inputResponses".split())
# W3C's, which have no prefix.
_TRACE = ("traceparent", "tracestate", "baggage")


async def call_tool(parts: McpParts, message: RpcMessage, exchange: Exchange) -> bytes:
    """Run the call of a message.

    Raises:
        RpcError: The message is no call, or names no tool.
        RequestError: The request is wrong.
    """
    request = _make_request(parts, message, exchange)
    await _compare_headers(parts, request, exchange)
    try:
        if "requestState" in message.params:
            answer = await resume(parts, request, message)
        else:
            answer = await parts.run(request)
    except ApprovalRequired as waiting:
        return to_json(await answer_waiting(parts, waiting.approval, message, exchange))
    finally:
        if parts.results.shares:
            parts.results.release(exchange.holder)
    return await _write(parts, answer, message.meta)


def _find_misplaced(parts: McpParts, name: str, params: Mapping[str, Any], caller: Caller) -> str | None:
    tool = parts.registry.get(name)
    is_known = tool is not None and is_surely_visible(tool, caller)
    known = tool.args_schema.flat.get("properties", ()) if tool is not None and is_known else ()
    return find_misplaced(params, "arguments") or find_loose(params, known, _PARAMS)


def _make_request(parts: McpParts, message: RpcMessage, exchange: Exchange) -> CallRequest:
    name, args = message.params.get("name"), read_object(message.params.get("arguments"))
    if type(name) is not str or not (args is None or type(args) is dict):
        raise RpcError(INVALID_PARAMS, "`name` has to be a text, and `arguments` an object.")
    if not args and (misplaced := _find_misplaced(parts, name, message.params, exchange.caller)) is not None:
        raise RpcError(INVALID_PARAMS, f"The arguments of a call stand in `arguments`, not in `{cut_name(misplaced)}`.")
    meta = message.meta
    headers, context = exchange.headers, _read_context(meta)
    require_conversation(headers, context)
    if "traceparent" in meta:
        headers = HeaderMap({**headers, **{key: meta[key] for key in _TRACE if isinstance(meta.get(key), str)}})
    call_id, known_as = _choose_id(parts, message, exchange)
    call = ToolCall(name=name, args=args or {}, id=call_id)
    return CallRequest(
        call,
        exchange.caller,
        meta.get(_STATE),
        context,
        headers,
        listener=exchange.make_listener(message),
        presence=exchange.presence,
        holder=exchange.holder,
        pinned=[meta[_HASH]] if isinstance(meta.get(_HASH), str) else None,
        known_as=known_as,
        wants_value=True,
    )


async def _compare_headers(parts: McpParts, request: CallRequest, exchange: Exchange) -> None:
    tool = parts.registry.get(request.call.name)
    if tool is None or not tool.mirrored or exchange.sent is None:
        return
    # A caller who may not see the tool gets the answer for an unknown one.
    if await is_visible(tool, request.caller, request.context):
        compare_mirrored(tool, request.call.args, exchange.sent)


def _read_context(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    context = meta.get(_CONTEXT)
    if context is None:
        return {}
    if not isinstance(context, dict):
        raise RpcError(INVALID_PARAMS, f"`_meta[{_CONTEXT!r}]` has to be an object.")
    return context


def _choose_id(parts: McpParts, message: RpcMessage, exchange: Exchange) -> tuple[str, str | None]:
    """Choose the id of a call, and the key that identifies it while it waits.

    The id is the client's own, or a new one, since each client numbers its messages from the start.
    """
    own = message.meta.get(_CALL_ID)
    if isinstance(own, str) and own:
        return own, None
    tool = parts.registry.get(message.params["name"])
    if tool is None or not _is_repeated(tool, message, exchange):
        return f"call_{uuid4().hex}", None
    known_as = make_call_id(message.params)
    # Equal calls of a tool that needs approval are one call. Others run each time, unless they ask themselves.
    return known_as if is_asked_about(tool) else f"call_{uuid4().hex}", known_as


def _is_repeated(tool: CompiledTool, message: RpcMessage, exchange: Exchange) -> bool:
    """Return whether a call may wait for a person although its client cannot ask, so that it will be repeated."""
    if takes_user_tokens(tool) and not exchange.can_lead(message):
        return True
    # Any tool may ask by itself. For sign-in this is assumed only where it is declared.
    asks = wants_approval(tool) or not takes_user_tokens(tool) or asks_inside(tool.function)
    return asks and not exchange.can_ask(message)


async def _write(parts: McpParts, message: ToolMessage, asked: Mapping[str, Any]) -> bytes:
    told = message.response_metadata
    if message.status == "error" and told.get("error", {}).get("kind") == "unknown_tool":
        raise RpcError(INVALID_PARAMS, str(message.content), {"nearest": told["error"]["nearest"]})
    if is_bulky(message) or is_long(find_value(message)):
        return await parts.results.make(partial(_make_result, parts, message, asked))
    return to_json(_make_result(parts, message, asked))


def _make_result(parts: McpParts, message: ToolMessage, asked: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "content": write_blocks(message),
        "isError": message.status == "error",
        "resultType": "complete",
        "_meta": write_meta(asked, {"id": message.id, **message.response_metadata}, message.artifact),
    }
    _add_value(parts, message, result)
    return result


def _add_value(parts: McpParts, message: ToolMessage, result: dict[str, Any]) -> None:
    """Add the structured value that the text contains; a tool with an output schema must have one."""
    tool, value = parts.registry.get(message.name or ""), find_value(message)
    results = None if tool is None else tool.results
    if value is not ABSENT:
        result["structuredContent"] = value if results is None else results.wrap(value)
    elif tool is not None and results is not None and message.status == "success" and not tool.says_values:
        result["isError"] = True
        result["content"] += [{"type": "text", "text": f"Error: {say_not_kept(tool.name)}"}]

"""Run a tool, and write its answer as MCP's result."""

import base64
import binascii
import json
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from pydantic_core import to_json
from uuid_utils import uuid4

from sidecall.features.approvals.steps import is_asked_about, takes_user_tokens, wants_approval
from sidecall.features.mcp_server.elicitation import answer_waiting, make_call_id, resume
from sidecall.features.mcp_server.parts import Exchange, McpParts
from sidecall.features.mcp_server.revisions import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    META,
    RpcError,
    RpcMessage,
    asks_for_more,
    decode_header,
    make_uri,
    write_meta,
)
from sidecall.kernel.core.content_blocks import Media, Part, read_block
from sidecall.kernel.core.context import Caller, HeaderMap
from sidecall.kernel.core.errors import cut_name
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import (
    ABSENT,
    ContentBlock,
    ToolMessage,
    find_artifact,
    find_beside,
    find_note,
    find_origin,
    find_value,
    make_call,
    say_not_kept,
)
from sidecall.kernel.core.origin import may_name_origin
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.json_data.large_values import is_bulky, is_long
from sidecall.kernel.json_data.text import read_object
from sidecall.kernel.json_data.to_json import dump_plain
from sidecall.kernel.pipeline.hooks import is_surely_visible, is_visible
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.approvals.questions import asks_inside
from sidecall.kernel.ports.approvals.review import NOT_REVIEWED, Review
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
    begun = begin_call(parts, message, exchange)
    return begun if isinstance(begun, bytes) else await begun


def begin_call(parts: McpParts, message: RpcMessage, exchange: Exchange) -> bytes | Coroutine[Any, Any, bytes]:
    """Do so at once, or return an awaitable, to be awaited first; it raises what `call_tool` raises."""
    try:
        name = message.params.get("name")
        tool = parts.registry.get(name) if type(name) is str else None
        request = _make_request(message, exchange, tool)
        if "requestState" in message.params or (tool is not None and tool.mirrored and exchange.sent is not None):
            return go_on(parts, message, exchange, tool, _compare_and_run(parts, message, exchange, tool, request))
        came = parts.begin(request, tool)
    except BaseException as error:
        return go_on(parts, message, exchange, None, fail(error))
    value = find_value(came) if isinstance(came, ToolMessage) else ABSENT
    if not isinstance(came, ToolMessage) or not _is_short(came, value, message.meta):
        return go_on(parts, message, exchange, tool, came)
    if parts.results.shares:
        parts.results.release(exchange.holder)
    result = make_result(tool, came, value, None)
    return dump_plain(result) if value is ABSENT or type(value) is str else to_json(result)


async def fail(error: BaseException) -> ToolMessage:
    """Raise an error where the call is awaited."""
    try:
        raise error
    finally:
        del error  # Its traceback holds this frame, and would so hold itself.


async def _compare_and_run(
    parts: McpParts, message: RpcMessage, exchange: Exchange, tool: CompiledTool | None, request: CallRequest
) -> ToolMessage:
    if tool is not None and tool.mirrored and exchange.sent is not None:
        await _compare_headers(tool, request, exchange.sent)
    came = resume(parts, request, message) if "requestState" in message.params else parts.begin(request, tool)
    return came if isinstance(came, ToolMessage) else await came


async def go_on(
    parts: McpParts,
    message: RpcMessage,
    exchange: Exchange,
    tool: CompiledTool | None,
    came: ToolMessage | Awaitable[ToolMessage],
) -> bytes:
    """Write the answer to a call that has begun, once it is there."""
    try:
        answer = came if isinstance(came, ToolMessage) else await came
    except ApprovalRequired as waiting:
        return to_json(await answer_waiting(parts, waiting.approval, message, exchange))
    finally:
        if parts.results.shares:
            parts.results.release(exchange.holder)
    return await _write(parts, tool, answer, message.meta)


def _find_misplaced(tool: CompiledTool | None, params: Mapping[str, Any], caller: Caller) -> str | None:
    is_known = tool is not None and is_surely_visible(tool, caller)
    known = tool.args_schema.flat.get("properties", ()) if tool is not None and is_known else ()
    return find_misplaced(params, "arguments") or find_loose(params, known, _PARAMS)


def _make_request(message: RpcMessage, exchange: Exchange, tool: CompiledTool | None) -> CallRequest:
    name, args = message.params.get("name"), message.params.get("arguments")
    if type(args) is not dict:
        args = read_object(args)
    if type(name) is not str or not (args is None or type(args) is dict):
        raise RpcError(INVALID_PARAMS, "`name` has to be a text, and `arguments` an object.")
    if not args and (misplaced := _find_misplaced(tool, message.params, exchange.caller)) is not None:
        raise RpcError(INVALID_PARAMS, f"The arguments of a call stand in `arguments`, not in `{cut_name(misplaced)}`.")
    meta = message.meta
    headers, context = exchange.headers, _read_context(meta)
    if context or may_name_origin(headers):
        require_conversation(headers, context)
    if "traceparent" in meta:
        headers = HeaderMap({**headers, **{key: meta[key] for key in _TRACE if isinstance(meta.get(key), str)}})
    call_id, known_as = _choose_id(tool, message, exchange)
    call = make_call(name, args or {}, call_id)
    pinned = [meta[_HASH]] if isinstance(meta.get(_HASH), str) else None
    return CallRequest(
        call,
        Sender(headers, exchange.caller, exchange.presence, None, pinned, exchange.holder, wants_value=True),
        meta.get(_STATE),
        context,
        exchange.make_listener(message),
        NOT_REVIEWED if known_as is None else Review(known_as=known_as),
    )


async def _compare_headers(tool: CompiledTool, request: CallRequest, sent: Mapping[bytes, bytes]) -> None:
    # A caller who may not see the tool gets the answer for an unknown one.
    if await is_visible(tool, request.sender.caller, request.context):
        compare_mirrored(tool, request.call.args, sent)


def _read_context(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    context = meta.get(_CONTEXT)
    if context is None:
        return {}
    if not isinstance(context, dict):
        raise RpcError(INVALID_PARAMS, f"`_meta[{_CONTEXT!r}]` has to be an object.")
    return context


def _choose_id(
    tool: CompiledTool | None, message: RpcMessage, exchange: Exchange
) -> tuple[str, Callable[[], str] | str | None]:
    """Choose the id of a call, and what makes the key that identifies it while it waits.

    The id is the client's own, or a new one, since each client numbers its messages from the start.
    """
    own = message.meta.get(_CALL_ID)
    if isinstance(own, str) and own:
        return own, None
    is_asked = tool is not None and is_asked_about(tool)
    if tool is None or not _is_repeated(tool, is_asked, message, exchange):
        return f"call_{uuid4().hex}", None
    # Equal calls of a tool that needs approval are one call. Others run each time, unless they ask themselves.
    if is_asked:
        known_as = make_call_id(message.params["name"], message.params.get("arguments"))
        return known_as, known_as
    return f"call_{uuid4().hex}", partial(make_call_id, message.params["name"], message.params.get("arguments"))


def _is_repeated(tool: CompiledTool, is_asked: bool, message: RpcMessage, exchange: Exchange) -> bool:
    """Return whether a call may wait for a person although its client cannot ask, so that it will be repeated."""
    # Any tool may ask by itself. For sign-in this is assumed only where it is declared.
    if is_asked and takes_user_tokens(tool):
        if not exchange.can_lead(message):
            return True
        if not (wants_approval(tool) or asks_inside(tool.function)):
            return False
    return not exchange.can_ask(message)


# Characters of a text that takes no time to write, and values that take none.
SHORT = 64 * 1024
_SINGLE = frozenset((int, float, bool, type(None)))


def _is_short(message: ToolMessage, value: Any, asked: Mapping[str, Any]) -> bool:
    """Return whether an answer is written at once: a short text, and a value that says no more."""
    said = message.__dict__  # At once, since a model looks far for each attribute.
    content = said["content"]
    if (
        type(content) is not str
        or len(content) >= SHORT
        or asks_for_more(asked)
        or "error" in said["response_metadata"]
    ):
        return False
    return value is ABSENT or is_single(value) or value is content


def is_single(value: Any) -> bool:
    """Return whether a value is one that takes no time to write."""
    return type(value) in _SINGLE


async def _write(parts: McpParts, tool: CompiledTool | None, message: ToolMessage, asked: Mapping[str, Any]) -> bytes:
    told, value = message.response_metadata, find_value(message)
    if message.status == "error" and told.get("error", {}).get("kind") == "unknown_tool":
        raise RpcError(INVALID_PARAMS, str(message.content), {"nearest": told["error"]["nearest"]})
    more = asked if asks_for_more(asked) else None
    if not _is_short(message, value, asked) and (is_bulky(message) or is_long(value)):
        return await parts.results.make(partial(make_result, tool, message, value, more))
    return to_json(make_result(tool, message, value, more))


def make_result(
    tool: CompiledTool | None, message: ToolMessage, value: Any, asked: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Make the result of a call from its answer and the value kept with that, and what was asked for beside it."""
    result: dict[str, Any] = {
        "content": write_blocks(message),
        "isError": message.status == "error",
        "resultType": "complete",
        "_meta": META,
    }
    if asked is not None:
        told = {"id": message.id, **message.response_metadata}
        result["_meta"] = write_meta(asked, told, find_artifact(message))
    _add_value(tool, message, value, result)
    return result


def _add_value(tool: CompiledTool | None, message: ToolMessage, value: Any, result: dict[str, Any]) -> None:
    """Add the structured value that the text contains; a tool with an output schema must have one."""
    results = None if tool is None else tool.results
    if value is not ABSENT:
        result["structuredContent"] = value if results is None else results.wrap(value)
    elif tool is not None and results is not None and message.status == "success" and not tool.says_values:
        result["isError"] = True
        result["content"] += [{"type": "text", "text": f"Error: {say_not_kept(tool.name)}"}]


# URIs of contents that came within an answer, which cannot be read again.
_INLINE = "sidecall:///inline/"

# Media with a block type of their own.
_SHOWN = frozenset(("image", "audio"))

McpBlock = dict[str, Any]


def write_blocks(message: ToolMessage) -> list[McpBlock]:
    """Write a message's content, with a link to the whole where it was cut."""
    content = message.content
    blocks = (
        [_write_text(content)]
        if isinstance(content, str)
        else [_write_origin(block) or {**_write_part(read_block(block)), **find_beside(block)} for block in content]
    )
    told = message.response_metadata
    note = find_note(message)
    if note is not None:
        blocks.append(_write_text(note))
    if told.get("artifact_url") is not None:
        blocks.append(_link_whole(message, told["artifact_url"]))
    return blocks


def _write_text(text: str) -> McpBlock:
    return {"type": "text", "text": text}


def _write_origin(block: str | ContentBlock) -> McpBlock | None:
    """Write a block from another MCP server as the link or resource that it was."""
    origin = find_origin(block)
    if origin is None or origin["type"] == "resource_link":
        return origin
    part = read_block(block)
    held = {"text": part} if isinstance(part, str) else {"blob": part.data} if isinstance(part, Media) else {}
    return {**origin, "resource": {**origin["resource"], **held}}


def _write_part(part: Part) -> McpBlock:
    if isinstance(part, str):
        return _write_text(part)
    if not isinstance(part, Media):
        shown = part.get("json", part) if part.get("type") == "json" else part
        return _write_text(json.dumps(shown, ensure_ascii=False))
    if part.data is not None:
        return _embed(part, part.data)
    if part.url is not None:
        return {"type": "resource_link", "uri": part.url, "name": part.filename or part.kind, "mimeType": part.type}
    return _write_text(f"[{part.kind} {part.filename or ''}, id {part.file_id}]".replace(" ,", ","))


def _embed(part: Media, data: str) -> McpBlock:
    # A file may be audio too: LangChain's messages have no block for audio.
    kind = part.kind if part.kind in _SHOWN else part.type.partition("/")[0]
    if kind in _SHOWN:
        return {"type": kind, "data": data, "mimeType": part.type}
    uri = f"{_INLINE}{quote(part.filename or part.kind)}"
    text = _decode_text(part.type, data)
    held = {"blob": data} if text is None else {"text": text}
    return {"type": "resource", "resource": {"uri": uri, "mimeType": part.type, **held}}


def _decode_text(media_type: str, data: str) -> str | None:
    if not media_type.startswith("text/") and media_type != "application/json":
        return None
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _link_whole(message: ToolMessage, url: str) -> McpBlock:
    media_type = "text/plain" if isinstance(message.content, str) else "application/json"
    return {
        "type": "resource_link",
        "uri": make_uri(url),
        "name": f"whole answer of {message.name}",
        "description": "The whole of what was cut out of this answer.",
        "mimeType": media_type,
    }


_WHOLE = re.compile(r"(-?[0-9]{1,400})(?:\.0+)?")


def compare_mirrored(tool: CompiledTool, args: Any, headers: Mapping[bytes, bytes]) -> None:
    """Require each header to equal the argument that it repeats.

    Raises:
        RpcError: They differ; a gateway may have relied on the header.
    """
    schema = tool.args_schema.flat
    for header, path in tool.mirrored.items():
        value, sent = _find(args, path, schema), headers.get(header)
        if value is None and sent is None:
            continue
        shown = f"The header {header.decode()} and the argument {'.'.join(path)}"
        if sent is None:
            raise RpcError(HEADER_MISMATCH, f"The header {header.decode()} is missing.", status=400)
        if value is None or not _equals(sent, value):
            raise RpcError(HEADER_MISMATCH, f"{shown} do not say the same.", status=400)


def _find(args: Any, path: tuple[str, ...], schema: Schema) -> Any:
    """Return the argument at a path as it was sent; None where there is none, even if a repair adds it later."""
    for name in path:
        known = schema["properties"]
        found = args.get(name) if isinstance(args, dict) else None
        if found is None and args is not None and (not isinstance(args, dict) or not args.keys() <= known.keys()):
            text = f"The argument {'.'.join(path)} may stand under another name, which no header repeats."
            raise RpcError(HEADER_MISMATCH, text, status=400)
        args, schema = found, known[name]
    return args


def _equals(sent: bytes, value: Any) -> bool:
    text = sent.decode("latin-1").strip(" \t")  # Surrounding blanks are not part of a value.
    if not (text.isascii() and text.replace("\t", " ").isprintable()):
        return False
    decoded = decode_header(text)
    if decoded is None:
        return False
    if isinstance(value, bool):
        return decoded == ("true" if value else "false")
    if isinstance(value, int | float):
        whole = _WHOLE.fullmatch(decoded)
        return whole is not None and int(whole[1]) == value
    return isinstance(value, str) and decoded == value

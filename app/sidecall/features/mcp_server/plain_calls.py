"""Read a call of a tool as most clients send it, from its bytes in one step, and write its answer in another.

Only what such calls usually have is read here. All else is left to the endpoint, which reads any message, and says what
is wrong with it.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from msgspec import UNSET, DecodeError, Struct, UnsetType
from msgspec.json import Decoder
from pydantic_core import to_json
from uuid_utils import uuid4

from sidecall.features.approvals.steps import is_asked_about
from sidecall.features.mcp_server.calls import SHORT, is_single, make_result
from sidecall.features.mcp_server.elicitation import make_call_id
from sidecall.features.mcp_server.parts import can_ask
from sidecall.features.mcp_server.revisions import (
    CALL_METHOD,
    CAPABILITIES_KEY,
    CLIENT_KEY,
    META,
    MODERN,
    VERSION_KEY,
    Id,
    RpcMessage,
    repeats_call,
    says_handshake,
    write_result,
)
from sidecall.features.mcp_server.sessions import RAW_HEADER
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ABSENT, NOTES, ToolMessage, find_value, make_call
from sidecall.kernel.core.origin import CONVERSATION, PARENT
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.text import NEVER_DEEP, is_flat
from sidecall.kernel.json_data.to_json import dump_plain
from sidecall.kernel.ports.approvals.review import NOT_REVIEWED, Review

# With one of these a call belongs to something, which has to be found first.
_LEFT = frozenset((RAW_HEADER, CONVERSATION, PARENT))
# With one of these an answer says more than its text.
_MORE = frozenset(("error", "artifact_url", *NOTES))


class _Meta(
    Struct,
    forbid_unknown_fields=True,
    rename={"version": VERSION_KEY, "capabilities": CAPABILITIES_KEY, "client": CLIENT_KEY},
):
    version: Literal["2026-07-28"]
    capabilities: dict[str, Any]
    client: Any = UNSET


class _Params(Struct, forbid_unknown_fields=True, rename={"meta": "_meta"}):
    name: str
    arguments: dict[str, Any] | None = None
    meta: _Meta | UnsetType = UNSET


class PlainCall(Struct, forbid_unknown_fields=True):
    """A call of a tool, in the form that most clients of each revision send."""

    jsonrpc: Literal["2.0"]
    id: Id
    method: Literal["tools/call"]
    params: _Params

    def to_message(self) -> RpcMessage:
        """Return the message that it is."""
        said, meta = self.params, dict[str, Any]()
        params: dict[str, Any] = {"name": said.name, "arguments": said.arguments}
        if said.meta is not UNSET:
            meta = params["_meta"] = {VERSION_KEY: MODERN, CAPABILITIES_KEY: said.meta.capabilities}
            if said.meta.client is not UNSET:
                meta[CLIENT_KEY] = said.meta.client
        return RpcMessage(self.id, CALL_METHOD, params, meta)


_decode = Decoder(PlainCall).decode


def read_plain_call(body: bytes, headers: Mapping[bytes, bytes]) -> PlainCall | None:
    """Read a call from its body and headers; no header may have come twice. Return None for anything unusual."""
    if (len(body) > NEVER_DEEP and not is_flat(body)) or not _LEFT.isdisjoint(headers):
        return None
    try:
        said = _decode(body)
    except (DecodeError, UnicodeDecodeError):
        return None
    is_usual = says_handshake(headers) if said.params.meta is UNSET else repeats_call(headers, said.params.name)
    return said if is_usual else None


def is_plain(tool: CompiledTool) -> bool:
    """Return whether calls of this tool only run it: no mirrored headers, no idempotency, no approval."""
    return not tool.mirrored and tool.options.idempotency is None and not is_asked_about(tool)


def make_request(said: PlainCall, sender: Sender) -> CallRequest:
    """Make the request of a call; where its client cannot ask, its tool may do so, and it is then known again."""
    name, args, meta = said.params.name, said.params.arguments or {}, said.params.meta
    call = make_call(name, args, f"call_{uuid4().hex}")
    asks = meta is not UNSET and meta.capabilities and can_ask(meta.capabilities, sender.caller)
    review = NOT_REVIEWED if asks else Review(known_as=partial(make_call_id, name, args))
    return CallRequest(call, sender, None, {}, None, review)


def write_answer(said: PlainCall, tool: CompiledTool, message: ToolMessage) -> bytes | None:
    """Write the answer to a call; None where it is more than a short text."""
    fields = message.__dict__  # At once, since a model looks far for each attribute.
    content, value = fields["content"], find_value(message)
    if (
        type(content) is not str
        or len(content) >= SHORT
        or fields["status"] != "success"
        or not _MORE.isdisjoint(fields["response_metadata"])
    ):
        return None
    if value is not ABSENT or tool.results is not None:
        return _write_valued(said, tool, message, value) if value is content or is_single(value) else None
    return _TEXT % (dump_plain(said.id), dump_plain(content))


# The answer with a text, around its id and the text.
_TEXT = b'{"jsonrpc":"2.0","id":%%b,"result":{"content":[{"type":"text","text":%%b}],%b}}' % (
    to_json({"isError": False, "resultType": "complete", "_meta": META})[1:-1].replace(b"%", b"%%")
)


def _write_valued(said: PlainCall, tool: CompiledTool, message: ToolMessage, value: Any) -> bytes:
    result = make_result(tool, message, value, None)
    return write_result(said.id, dump_plain(result) if type(value) is str else to_json(result))

"""Supported revisions of MCP, and which one a message uses.

Since 2026-07-28 every request is self-contained. Before that there was a handshake; it is answered here without a
session, so that any worker may serve the requests which follow.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from pydantic_core import to_json

from sidecall.kernel.core.errors import SidecallError
from sidecall.version import __version__

PARSE_ERROR = -32700

INVALID_REQUEST = -32600

METHOD_NOT_FOUND = -32601

INVALID_PARAMS = -32602

INTERNAL_ERROR = -32603
# Codes of MCP's own.
HEADER_MISMATCH = -32020

UNSUPPORTED_VERSION = -32022

OLD_RESOURCE_NOT_FOUND = -32002  # before 2026-07-28

Id = str | int

_KINDS_OF_ID = frozenset((str, int))


class RpcError(SidecallError):
    """The message cannot be answered with a result.

    `status` is that of the HTTP answer, where the revision ties them together; `headers` go with it. `call_id` is the
    id of a request of which nothing else could be read.
    """

    def __init__(self, code: int, message: str, told: Any = None, *, status: int = 200) -> None:
        super().__init__(message)
        self.code = code
        self.told = told
        self.status = status
        self.headers: dict[str, str] = {}
        self.call_id: Id | None = None


class RpcMessage(Struct):
    """A request, or a notification, which has no id; `meta` is `params._meta`."""

    id: Id | None
    method: str
    params: dict[str, Any]
    meta: dict[str, Any]

    @property
    def is_request(self) -> bool:
        """Whether the message expects an answer."""
        return self.id is not None

    @property
    def tool_name(self) -> str | None:
        """The name of the called tool, if any."""
        name = self.params.get("name") if self.method == "tools/call" else None
        return name if isinstance(name, str) else None


def parse_message(body: Any) -> RpcMessage:
    """Read a message from parsed JSON.

    Raises:
        RpcError: It is not a message.
    """
    if type(body) is not dict or body.get("jsonrpc") != "2.0" or type(method := body.get("method")) is not str:
        raise RpcError(INVALID_REQUEST, "The body has to be one JSON-RPC 2.0 request or notification.", status=400)
    call_id = body.get("id")
    if type(call_id) not in _KINDS_OF_ID and "id" in body:
        raise RpcError(INVALID_REQUEST, "The id of a request has to be a text or an integer.", status=400)
    params = body.get("params")
    if params is None:
        return RpcMessage(call_id, method, {}, {})
    if type(params) is not dict or type(meta := params.get("_meta", {})) is not dict:
        error = RpcError(INVALID_PARAMS, "`params` and `params._meta` have to be objects.", status=400)
        error.call_id = call_id
        raise error
    return RpcMessage(call_id, method, params, meta)


def write_result(call_id: Id | None, result: bytes) -> bytes:
    """Write the answer to a request; its result is already JSON."""
    written = b"%d" % call_id if type(call_id) is int else to_json(call_id)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (written, result)


def write_error(call_id: Id | None, error: RpcError) -> bytes:
    """Write why a request has no result."""
    call_id = error.call_id if call_id is None else call_id
    told = {} if error.told is None else {"data": error.told}
    return to_json({"jsonrpc": "2.0", "id": call_id, "error": {"code": error.code, "message": error.message, **told}})


def write_notification(method: str, params: dict[str, Any]) -> bytes:
    """Write a message that wants no answer."""
    return to_json({"jsonrpc": "2.0", "method": method, "params": params})


MODERN = "2026-07-28"
# Those with a handshake, oldest first.
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

SUPPORTED = (MODERN, *reversed(HANDSHAKE))

_PREFIX = "io.modelcontextprotocol/"

VERSION_KEY = f"{_PREFIX}protocolVersion"

CAPABILITIES_KEY = f"{_PREFIX}clientCapabilities"

CLIENT_KEY = f"{_PREFIX}clientInfo"

SERVER_KEY = f"{_PREFIX}serverInfo"

SUBSCRIPTION_KEY = f"{_PREFIX}subscriptionId"

_VERSION = b"mcp-protocol-version"

_METHOD = b"mcp-method"

_NAME = b"mcp-name"

_ROUTING = frozenset((_VERSION, _METHOD, _NAME))

_ARGUMENT = b"mcp-param-"

CALL_METHOD = "tools/call"

_MODERN, _CALL = MODERN.encode(), CALL_METHOD.encode()

_OLD_VERSIONS = frozenset(version.encode() for version in HANDSHAKE)
# Headers that repeat parts of a request for gateways.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def is_modern(message: RpcMessage, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a message is self-contained, as all are since 2026-07-28.

    Raises:
        RpcError: Its revision is unknown, or its headers contradict it.
    """
    sent = headers.get(_VERSION)
    if VERSION_KEY not in message.meta and says_handshake(headers):
        return False
    if message.id is None:
        _require_known(None if sent is None else sent.decode("latin-1"))
        return True
    if not _is_usual(message, headers):
        require_envelope(message)
        _compare(message, headers)
        _require_known(message.meta[VERSION_KEY])
    return True


def _is_usual(message: RpcMessage, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether nothing is wrong with a call of a tool: its headers say what it says, letter by letter."""
    name = message.params.get("name")
    return (
        message.meta.get(VERSION_KEY) == MODERN
        and type(message.meta.get(CAPABILITIES_KEY)) is dict
        and message.method == CALL_METHOD
        and type(name) is str
        and repeats_call(headers, name)
    )


def repeats_call(headers: Mapping[bytes, bytes], name: str) -> bool:
    """Return whether headers say the same as a modern call of the tool of this name, letter by letter."""
    return (
        headers.get(_VERSION) == _MODERN
        and headers.get(_METHOD) == _CALL
        and name.isascii()
        and headers.get(_NAME) == name.encode()
    )


def says_handshake(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether headers name a revision with a handshake, or none, as its first did."""
    sent = headers.get(_VERSION)
    return sent is None or sent in _OLD_VERSIONS


def require_envelope(message: RpcMessage) -> None:
    """Require the fields that every modern request has.

    Raises:
        RpcError: One is missing.
    """
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in message.meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"`params._meta` lacks {' and '.join(missing)}.", status=400)
    if type(message.meta[CAPABILITIES_KEY]) is not dict or type(message.meta[VERSION_KEY]) is not str:
        raise RpcError(INVALID_PARAMS, f"{VERSION_KEY} is a text, and {CAPABILITIES_KEY} an object.", status=400)


def require_known_version(message: RpcMessage) -> None:
    """Require a supported revision of a modern request without headers.

    Raises:
        RpcError: It is not supported.
    """
    _require_known(message.meta[VERSION_KEY])


def _require_known(requested: Any) -> None:
    if requested != MODERN:
        told = {"supported": list(SUPPORTED), "requested": requested}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", told, status=400)


def refuse_repeated(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse repeated routing headers: a gateway may have read the other one.

    Raises:
        RpcError: A header is repeated.
    """
    seen = [name for name, _ in headers if name in _ROUTING or name.startswith(_ARGUMENT)]
    if len(seen) > len(set(seen)):
        raise RpcError(HEADER_MISMATCH, "A header by which requests are routed came twice.", status=400)


def _compare(message: RpcMessage, headers: Mapping[bytes, bytes]) -> None:
    """Compare headers with the message."""
    _require_same("MCP-Protocol-Version", headers.get(_VERSION), message.meta[VERSION_KEY])
    _require_same("Mcp-Method", headers.get(_METHOD), message.method)
    key = _NAMED.get(message.method)
    if key is not None and isinstance(name := message.params.get(key), str):
        _require_same("Mcp-Name", headers.get(_NAME), name)


def _require_same(header: str, sent: bytes | None, said: str) -> None:
    if sent is None:
        raise RpcError(HEADER_MISMATCH, f"The header {header} is missing.", status=400)
    text = sent.decode("latin-1").strip(" \t")  # Surrounding blanks are not part of a value.
    if text != said and decode_header(text) != said:
        raise RpcError(HEADER_MISMATCH, f"The header {header} does not say what the body says.", status=400)


def decode_header(text: str) -> str | None:
    """Decode an encoded header value; None if it is invalid."""
    if not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    inner = text[len("=?base64?") : -len("?=")]
    try:
        value = base64.b64decode(inner, validate=True)
        return value.decode() if base64.b64encode(value).decode() == inner else None
    except (binascii.Error, UnicodeDecodeError):
        return None


SERVER = {"name": "sidecall", "title": "Sidecall", "version": __version__}
META = {SERVER_KEY: SERVER}

# Milliseconds for which a client may cache a list.
_FRESH_FOR = 60_000


# Keys of a call's `_meta` by which a program asks for more. Many clients show the model all of a result's `_meta`.
CALL, ARTIFACT = "sidecall/call", "sidecall/artifact"
_ASKED = frozenset((CALL, ARTIFACT))


def asks_for_more(asked: Mapping[str, Any]) -> bool:
    """Return whether a request's `_meta` asks for more than its result."""
    return not _ASKED.isdisjoint(asked)


def write_meta(asked: Mapping[str, Any], told: Mapping[str, Any], artifact: Any = None) -> dict[str, Any]:
    """Write the `_meta` of a result; call and artifact only as the request's `_meta` asks."""
    meta: dict[str, Any] = {**META}
    if asked.get(CALL) is True:
        meta[CALL] = told
    if asked.get(ARTIFACT) is True and artifact is not None:
        meta[ARTIFACT] = artifact
    return meta


def make_complete(result: dict[str, Any]) -> dict[str, Any]:
    """Mark a result as complete, and name the server that made it."""
    return {**result, "resultType": "complete", "_meta": META}


def hint_caching(*, is_public: bool) -> dict[str, Any]:
    """Write for how long a result may be kept, and whether for others too."""
    return {"ttlMs": _FRESH_FOR, "cacheScope": "public" if is_public else "private"}


def make_uri(url: str) -> str:
    """Return the URI of the resource at this path."""
    return f"sidecall://{url}"

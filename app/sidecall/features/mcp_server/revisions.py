"""Supported revisions of MCP, and which one a message uses.

Since 2026-07-28 every request is self-contained. Before that there was a handshake; it is answered here without a
session, so that any worker may serve the requests which follow.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from sidecall.features.mcp_server.wire import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, RpcError, RpcMessage

MODERN = "2026-07-28"
# Those with a handshake, oldest first.
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
SUPPORTED = (MODERN, *reversed(HANDSHAKE))

_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = f"{_PREFIX}protocolVersion"
CAPABILITIES_KEY = f"{_PREFIX}clientCapabilities"
SERVER_KEY = f"{_PREFIX}serverInfo"
SUBSCRIPTION_KEY = f"{_PREFIX}subscriptionId"

_VERSION = b"mcp-protocol-version"
_METHOD = b"mcp-method"
_NAME = b"mcp-name"
_ROUTING = frozenset((_VERSION, _METHOD, _NAME))
_ARGUMENT = b"mcp-param-"
_OLD_VERSIONS = frozenset(version.encode() for version in HANDSHAKE)
# Headers that repeat parts of a request for gateways.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def is_modern(message: RpcMessage, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a message is self-contained, as all are since 2026-07-28.

    Raises:
        RpcError: Its revision is unknown, or its headers contradict it.
    """
    sent = headers.get(_VERSION)
    if VERSION_KEY not in message.meta and (sent is None or sent in _OLD_VERSIONS):
        return False
    if not message.is_request:
        _require_known(None if sent is None else sent.decode("latin-1"))
        return True
    require_envelope(message)
    _compare(message, headers)
    _require_known(message.meta[VERSION_KEY])
    return True


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

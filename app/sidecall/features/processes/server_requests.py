"""Requests of a tool's process to its server during a call: store and contents, which stay in the server."""

import base64
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sidecall.features.processes.child import LARGE, pack
from sidecall.features.store.items import ItemTooLarge, StoreFull
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import RESULTS, STORES
from sidecall.kernel.core.errors import SidecallError, ToolException
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.own_contents import ContentNotKept, NoSuchContent, OwnContents
from sidecall.kernel.ports.store import Item

# Bytes of a question or of its reply.
MOST_BYTES = 16 * 1024 * 1024
# Bytes of a content; base64 makes four characters of three, and little is added.
_MOST_OF_BODY = (MOST_BYTES - 4096) // 4 * 3


async def reply_to(invocation: Invocation, question: Sequence[Any]) -> bytes:
    """Answer a request of a call's process, as a message."""
    name, *values = question
    try:
        reply = {"value": await _OPERATIONS[name](invocation, *values)}
    except Exception as error:
        reply = {"error": _name(error), "text": str(error)}
    # In a thread, since it may be large.
    packed = await RESULTS.run(pack, "reply", invocation.id, reply)
    if len(packed) <= MOST_BYTES:
        return packed
    text = f"The reply takes {len(packed):,} bytes, and {MOST_BYTES:,} at most cross to a process; ask for less."
    return pack("reply", invocation.id, {"error": "ValueError", "text": text})


def read_reply(reply: Mapping[str, Any]) -> Any:
    """Return the server's reply, or raise its error."""
    if "error" in reply:
        raise _ERRORS.get(reply["error"], _make_error)(reply["text"])
    return reply["value"]


def encode_value(value: Any) -> str:
    """Serialize a value for the store.

    Raises:
        TypeError: JSON cannot say it.
        ValueError: JSON cannot say it, or it is too large for any item.
    """
    text = json.dumps(value, allow_nan=False)
    if len(text) > MOST_BYTES:
        raise ValueError(f"The value takes {len(text):,} bytes as JSON; {MOST_BYTES:,} at most cross to the server.")
    return text


def encode_body(body: str | bytes) -> str:
    """Encode the bytes of a content for transfer between processes.

    Raises:
        ToolException: There are too many.
    """
    whole = body.encode() if isinstance(body, str) else body
    if len(whole) > _MOST_OF_BODY:
        raise ToolException(
            f"The content takes {len(whole):,} bytes, and {_MOST_OF_BODY:,} at most cross between a process and its "
            "server."
        )
    return base64.b64encode(whole).decode("ascii")


def decode_body(encoded: str) -> bytes:
    """Decode the bytes of a content."""
    return base64.b64decode(encoded)


def decode_item(told: Sequence[Any] | None) -> Item | None:
    """Decode an item."""
    if told is None:
        return None
    namespace, key, value, created, updated = told
    return Item(tuple(namespace), key, value, datetime.fromisoformat(created), datetime.fromisoformat(updated))


def _write_item(item: Any) -> list[Any] | None:
    if item is None:
        return None
    times = (item.created_at.isoformat(), item.updated_at.isoformat())
    return [list(item.namespace), item.key, item.value, *times]


async def _call(invocation: Invocation, name: str, *values: Any, **options: Any) -> Any:
    """Call a store's method; a program's own store may only have sync ones."""
    store: Any = invocation.tool_context.store
    method = getattr(store, f"a{name}", None)
    if method is not None:
        return await method(*values, **options)
    return await STORES.run_for(key_of(invocation.request.sender.caller), getattr(store, name), *values, **options)


def _uses(refresh: bool) -> dict[str, Any]:
    return {} if refresh else {"refresh_ttl": False}


async def _get(invocation: Invocation, namespace: list[str], key: str, refresh: bool) -> Any:
    return _write_item(await _call(invocation, "get", tuple(namespace), key, **_uses(refresh)))


async def _put(invocation: Invocation, namespace: list[str], key: str, text: str, ttl: float | None) -> None:
    options = {} if ttl is None else {"ttl": ttl}
    value = json.loads(text) if len(text) < LARGE else await RESULTS.run(json.loads, text)
    await _call(invocation, "put", tuple(namespace), key, value, **options)


async def _delete(invocation: Invocation, namespace: list[str], key: str) -> None:
    await _call(invocation, "delete", tuple(namespace), key)


async def _search(invocation: Invocation, namespace: list[str], options: dict[str, Any], refresh: bool) -> Any:
    found = await _call(invocation, "search", tuple(namespace), **options, **_uses(refresh))
    return [_write_item(item) for item in found]


async def _list_namespaces(invocation: Invocation, options: dict[str, Any]) -> Any:
    return await _call(invocation, "list_namespaces", **options)


def _contents_of(invocation: Invocation) -> OwnContents:
    contents = invocation.tool_context.contents
    assert contents is not None
    return contents


async def _get_content(invocation: Invocation, content_id: str) -> list[str]:
    found = await _contents_of(invocation).aread(content_id)
    return [found.media_type, await RESULTS.run(encode_body, found.body)]


async def _keep_content(invocation: Invocation, encoded: str, media_type: str) -> str:
    return await _contents_of(invocation).asave(await RESULTS.run(decode_body, encoded), media_type)


_OPERATIONS: Mapping[str, Callable[..., Awaitable[Any]]] = {
    "get": _get,
    "put": _put,
    "delete": _delete,
    "search": _search,
    "list_namespaces": _list_namespaces,
    "get_content": _get_content,
    "keep_content": _keep_content,
}


def _name(error: Exception) -> str:
    return next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS), "")


def _make_error(text: str) -> Exception:
    return RuntimeError(text)


def _make_too_large(text: str) -> Exception:
    error = ItemTooLarge(0, 0)
    error.args = (text,)
    return error


# What the store and contents raise, as the tool sees it.
_ERRORS: Mapping[str, Callable[[str], Exception]] = {
    "StoreFull": lambda _: StoreFull(),
    "ItemTooLarge": _make_too_large,
    "StoreUnavailable": StoreUnavailable,
    "NoSuchContent": NoSuchContent,
    "ContentNotKept": ContentNotKept,
    "ToolException": ToolException,
    "SidecallError": SidecallError,
    "NotImplementedError": NotImplementedError,
    "TypeError": TypeError,
    "ValueError": ValueError,
}

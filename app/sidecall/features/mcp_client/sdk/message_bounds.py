"""Bound the messages of MCP servers, and parse them without holding up others.

The official client parses and checks a message on the event loop, which takes long for many values, and longer for many
blocks of content.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import mcp_types
from mcp.shared.message import SessionMessage
from pydantic_core import from_json, to_json

from sidecall.features.mcp_client.link import LinkLost
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.json_data.text import holds_more

MOST_VALUES = 100_000
MOST_BLOCKS = 2_000
# Bytes that hold no more of either, and that are passed on at once.
_SHORT = 48 * 1024
TOO_LARGE = "It has sent a message that is larger than SIDECALL_MAX_RESULT_BYTES."
_MANY_VALUES = f"more than {MOST_VALUES:,} values"
_MANY_BLOCKS = f"more than {MOST_BLOCKS:,} blocks of content"
# JSON-RPC's code of an error of the server.
_INTERNAL = -32603
# What a message begins or ends with that names the request that it answers.
_VERSION = rb'\s*"jsonrpc"\s*:\s*"2\.0"\s*'
_ID = rb'\s*"id"\s*:\s*(\d+|"[^"\\]*")\s*'
_BEGINNING = re.compile(rb"\s*\{(?:" + _VERSION + rb",)?" + _ID + rb",")
_ENDING = re.compile(rb"," + _ID + rb"(?:," + _VERSION + rb")?\}\s*$")
# Bytes that hold either, and bytes around the end of an event.
_NEAR = 256
_END = 4


class _Refused(dict[str, Any]):
    """The error that is put in the place of an answer."""


async def parse_message(line: bytes) -> SessionMessage:
    """Parse a message; a large one in a thread.

    An answer with more values or blocks than it may have becomes an error.

    Raises:
        LinkLost: It has more, and answers nothing.
        ValueError: It is no message.
    """
    value = from_json(line) if len(line) <= _SHORT else await RESULTS.run(_parse_bounded, line)
    # In two steps, which take a fifth of the time.
    return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(value, by_name=False))


def _parse_bounded(text: bytes) -> Any:
    if holds_more(text, MOST_VALUES):
        found = _BEGINNING.match(text[:_NEAR]) or _ENDING.search(text[-_NEAR:])
        return _refuse(None if found is None else from_json(found[1]), _MANY_VALUES)
    value = from_json(text)
    result = value.get("result") if isinstance(value, dict) else None
    content = result.get("content") if isinstance(result, dict) else None
    if isinstance(content, list) and len(content) > MOST_BLOCKS:
        return _refuse(value.get("id"), _MANY_BLOCKS)
    return value


def _refuse(request_id: Any, what: str) -> _Refused:
    if request_id is None:
        raise LinkLost(f"It has sent a message of {what}.")
    said = f"The answer has {what}, and is not read. Ask for less."
    return _Refused(jsonrpc="2.0", id=request_id, error={"code": _INTERNAL, "message": said})


class BoundedBody(httpx2.AsyncByteStream):
    """A body that is one message, read whole before the client parses it."""

    def __init__(self, stream: Any, most_bytes: int) -> None:
        """Bound the bytes of a stream."""
        self._stream = stream
        self._left = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the message, or an error in its place."""
        chunks: list[bytes] = []
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise LinkLost(TOO_LARGE)
            chunks.append(chunk)
        yield await _bound(b"".join(chunks))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


class BoundedEvents(httpx2.AsyncByteStream):
    """A stream of events, passed on one whole event at a time. Each event holds a message."""

    def __init__(self, stream: Any, most_bytes: int) -> None:
        """Bound the bytes of each event."""
        self._stream = stream
        self._most = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the events, with an error in the place of a message that has too much."""
        begun = bytearray()  # What is not a whole event yet.
        async for chunk in self._stream:
            begun += chunk
            end = _find_end(begun, len(begun) - len(chunk) - _END)
            if end > 0:
                whole = bytes(begun[:end])
                del begun[:end]
                whole = whole if len(whole) <= _SHORT else await _bound_events(whole)
                for start in range(0, len(whole), _SHORT):  # The client takes its time with each.
                    yield whole[start : start + _SHORT]
                    await asyncio.sleep(0)
            if len(begun) > self._most:
                raise LinkLost(TOO_LARGE)
        yield bytes(begun)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


def _find_end(events: bytearray, start: int) -> int:
    """Return the position behind the last event that ends behind `start`; 0 for none."""
    found = [(events.rfind(end, max(0, start)), len(end)) for end in (b"\n\n", b"\n\r\n", b"\r\r")]
    return max((at + size for at, size in found if at >= 0), default=0)


async def _bound_events(events: bytes) -> bytes:
    found = []
    for event in events.replace(b"\r\n", b"\n").split(b"\n\n"):
        fields, name, message = event.partition(b"data:")
        found.append(fields + name + await _bound(message))
    return b"\n\n".join(found)


async def _bound(text: bytes) -> bytes:
    """Return a message, or the error that stands in its place.

    Raises:
        LinkLost: It has more than a message may have, and answers nothing.
    """
    return text if len(text) <= _SHORT else await RESULTS.run(_bound_large, text)


def _bound_large(text: bytes) -> bytes:
    try:
        value = _parse_bounded(text)
    except ValueError:  # The client says what is wrong.
        return text
    return to_json(value) if isinstance(value, _Refused) else text

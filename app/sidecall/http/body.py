"""Read a request's JSON body, within limits."""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import Request
from msgspec import Struct
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from sidecall.kernel.core.errors import BodyTooLarge, MalformedJSON, RequestError, UnsupportedMediaType
from sidecall.kernel.json_data.text import LARGE, holds_more, parse_json, pause_collector

_DIGITS = 18


class Bounds(Struct, frozen=True):
    """The size limits of a JSON body: bytes, number of values, and calls of a batch."""

    size: int
    values: int
    calls: int = 128

    @property
    def most_unlooked_at(self) -> int:
        """Bytes of a body that surely does not hold too many values."""
        return 2 * self.values

    def hold(self, body: bytes) -> bytes:
        """Return a body; the default holder counts nothing.

        Raises:
            BodyTooLarge: It holds too many values.
        """
        # Most are too short for that; `holds_more` would find it out as well.
        if len(body) > self.most_unlooked_at and holds_more(body, self.values):
            raise BodyTooLarge(f"The body holds more than the {self.values} values that this server takes.")
        return body


def is_plain(headers: Mapping[bytes, bytes], came: int, bounds: Bounds) -> bool:
    """Return whether a body is JSON of a known length within bounds, so that `read_plain` can read it.

    Args:
        headers: The headers of its request.
        came: How many came; where one came twice, others look whether it is one that may.
        bounds: How large it may be.
    """
    length = headers.get(b"content-length", b"")
    return (
        len(headers) == came
        and headers.get(b"content-type") == b"application/json"
        and b"content-encoding" not in headers
        and length.isdigit()
        and len(length) < _DIGITS
        and int(length) <= bounds.size
    )


async def read_plain(receive: Receive, bounds: Bounds) -> bytes:
    """Read a plain body, without the framework.

    Raises:
        ClientDisconnect: The client hung up.
        BodyTooLarge: It holds too many values.
    """
    message = await receive()
    body = message.get("body", b"")
    if message.get("more_body", False) or message["type"] == "http.disconnect":
        body = await read_rest(message, receive)
    return bounds.hold(body)


async def read_rest(message: Message, receive: Receive) -> bytes:
    """Read the rest of a plain body from its first message.

    Raises:
        ClientDisconnect: The client hung up.
    """
    chunks: list[bytes] = []
    while True:
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)
        message = await receive()


async def read_json(request: Request, bounds: Bounds) -> Any:
    """Read the body as JSON, as strictly as `parse_json` does.

    Raises:
        UnsupportedMediaType: It is not declared as JSON.
        BodyTooLarge: It is longer than the bounds, and the rest is not read; or holds too many values.
        MalformedJSON: It is not JSON.
    """
    return parse_body(await read_body(request, bounds))


def parse_body(body: bytes) -> Any:
    """Parse a body within its bounds.

    Raises:
        MalformedJSON: It is not JSON.
    """
    if not body.strip():
        raise MalformedJSON("The body is empty; send JSON in it.")
    try:
        if len(body) > LARGE:
            with pause_collector():
                return parse_json(body, most=None)
        return parse_json(body, most=None)
    except ValueError as error:
        raise MalformedJSON(f"The body is not JSON: {error}.") from None


async def read_body(request: Request, bounds: Bounds) -> bytes:
    """Read a JSON body.

    An empty body may have any media type, since many clients declare one for no bytes.

    Raises:
        UnsupportedMediaType: There are bytes that are not declared as JSON, or are compressed; they are not read.
        RequestError: They are declared twice.
        BodyTooLarge: It is longer than the bounds, and the rest is not read; or holds too many values.
    """
    return bounds.hold(await _read(request, bounds.size, _require_json))


async def read_bytes(request: Request, bounds: Bounds) -> bytes:
    """Read a body of any media type.

    Raises:
        UnsupportedMediaType: It is compressed.
        RequestError: It is declared twice.
        BodyTooLarge: It is longer than the bounds, and the rest is not read.
    """
    _require_clear(request)
    return await _read(request, bounds.size)


def _require_json(request: Request) -> None:
    _require_clear(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        given = f"not {media_type}" if media_type else "which is missing"
        raise UnsupportedMediaType(f"The body must be sent with `Content-Type: application/json`, {given}.")


def _require_clear(request: Request) -> None:
    declared = len(request.headers.getlist("content-type"))
    if declared > 1:  # A proxy in front of this server may have gone by another one.
        raise RequestError(f"`Content-Type` came {declared} times; send it once.")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise UnsupportedMediaType("The body must be sent as it is, without a `Content-Encoding`.")


async def _read(request: Request, limit: int, require: Callable[[Request], None] | None = None) -> bytes:
    """Read a body up to its limit; its headers are checked once it is known that there are bytes."""
    declared = request.headers.get("content-length", "")
    # Compared by its length first: int() refuses numbers of thousands of digits.
    if declared.isdecimal() and (len(declared) > _DIGITS or int(declared) > limit):
        raise _make_too_large(limit)
    if require is not None and (declared.strip("0") or "expect" in request.headers):
        require(request)  # Before the client is told to send it.
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        if require is not None and chunk and not size:
            require(request)
        size += len(chunk)
        if size > limit:
            raise _make_too_large(limit)
        chunks.append(chunk)
    return b"".join(chunks)


def _make_too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body is larger than the {limit} bytes that this server takes.")

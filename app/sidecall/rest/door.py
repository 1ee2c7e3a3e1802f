"""Serve the two hot requests in front of the framework.

`POST /tool_calls` and `GET /tools` are what agents do all day, and most of what such a request costs is the framework's
way to it. Here they take a short one, in their plain form only; whatever else they carry (a query, a body without a
length, another media type) goes on to the framework's routes. The work is done by the same functions on both ways, and
the same tests run against both.
"""

from collections.abc import Mapping, Sequence

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from sidecall.core.errors import RequestError
from sidecall.http import problems
from sidecall.http.head import as_get
from sidecall.http.presence import DisconnectListener
from sidecall.http.request_id import request_id_of
from sidecall.http.whole import send_whole
from sidecall.rest.answers import answer_call
from sidecall.rest.listing import Listing, has
from sidecall.rest.parts import Parts
from sidecall.telemetry.current import REQUEST_ID

# More digits than any limit has, so that nobody makes us parse a number of thousands.
_DIGITS = 18


class Door:
    """Answer what is plain; tell what is not."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Serve a request, or return False when it has to go on to the framework."""
        path = scope["path"]
        if path == "/tool_calls":
            headers = _first(scope["headers"])
            if not self._is_plain_call(scope, headers):
                return False
            await self._call(scope, headers, receive, send)
            return True
        if path == "/tools" and scope["method"] == "GET":
            listing = self._parts.listings.find(scope["query_string"])
            if listing is not None:
                await self._list(listing, scope, send)
                return True
        return False

    def _is_plain_call(self, scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
        length = headers.get(b"content-length", b"")
        return (
            scope["method"] == "POST"
            and not scope["query_string"]
            and b"event-stream" not in headers.get(b"accept", b"").lower()
            and headers.get(b"content-type") == b"application/json"
            and b"content-encoding" not in headers
            and 0 < len(length) < _DIGITS
            and length.isdigit()
            and int(length) <= self._parts.bounds.size
        )

    async def _call(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, send: Send) -> None:
        request_id = _request_id(headers)
        REQUEST_ID.set(request_id)
        try:
            body = self._parts.bounds.hold(await _body(receive))
            watch = DisconnectListener(receive)
            reply = await watch.over(answer_call(self._parts, body, Headers(scope=scope), presence=watch))
        except ClientDisconnect:
            return
        except Exception as error:
            scope.setdefault("state", {})["request_id"] = request_id
            response = await problems.answer(Request(scope), error)
            response.headers["X-Request-Id"] = request_id
            await response(scope, receive, send)
            if not isinstance(error, RequestError):
                raise
            return
        named = [*_raw(reply.headers), (b"x-request-id", request_id.encode()), *_json(reply.body)]
        await send_whole(send, reply.status, named, reply.body)

    async def _list(self, listing: Listing, scope: Scope, send: Send) -> None:
        headers = _first(scope["headers"])
        named = [*_raw(listing.headers), (b"x-request-id", _request_id(headers).encode())]
        if has(headers.get(b"if-none-match", b"").decode("latin-1"), listing.etag):
            await send_whole(send, 304, named, b"")
        else:
            await send_whole(send, 200, [*named, *_json(listing.body)], listing.body)


def _first(headers: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Name headers; of those that come twice the first counts, as in the framework."""
    return dict(headers[::-1])


def _request_id(headers: Mapping[bytes, bytes]) -> str:
    return request_id_of(headers.get(b"x-request-id", b"").decode("latin-1"))


async def _body(receive: Receive) -> bytes:
    """Read a body whose length is known and within limits.

    Raises:
        ClientDisconnect: The client hung up.
    """
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _json(body: bytes) -> tuple[tuple[bytes, bytes], ...]:
    return (b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


class Sidecall(FastAPI):
    """The application: the framework's, behind the door."""

    door: Door | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one lifespan.

        The door stays closed for an application that is mounted in another, or that others have put middleware around:
        their middleware has to see every request.
        """
        if scope.get("method") == "HEAD":
            scope, send = as_get(scope, send)
        is_plain = scope["type"] == "http" and not scope.get("root_path") and len(self.user_middleware) == 1
        if is_plain and self.door is not None and await self.door.serve(scope, receive, send):
            return
        await super().__call__(scope, receive, send)

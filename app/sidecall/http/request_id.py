"""Assign an id to each request."""

import re
from collections.abc import Awaitable, Collection, Iterable

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils import uuid7

from sidecall.http.application import Wrapper
from sidecall.http.authentication import HEADERS
from sidecall.kernel.core.origin import REQUEST_ID

_READABLE = (
    "ETag",
    "Idempotency-Replayed",
    "Link",
    "Location",
    "Mcp-Session-Id",
    "Preference-Applied",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "X-Request-Id",
    "X-Sidecall-Approvals",
)


def share_with(origins: Collection[str]) -> Wrapper:
    """Make the middleware for pages of these origins: it answers preflight requests, and marks every answer.

    Pages that may run tools may also send the credentials by which their browser is known to a gateway.
    """

    def share(app: ASGIApp) -> ASGIApp:
        return RequestIdHeader(
            CORSMiddleware(
                app,
                allow_origins=origins,
                allow_methods=("*",),
                allow_headers=("*",),
                allow_credentials=True,
                allow_private_network=True,
                expose_headers=_READABLE,
            )
        )

    return share


HEADER = b"x-request-id"
# Browsers take no answer for anything but what it says that it is.
NOSNIFF = (b"x-content-type-options", b"nosniff")

_set_id = REQUEST_ID.set
_ACCEPTABLE = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


def make_request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the client's id from its request's headers if it is valid, else a new one."""
    return _choose(next((value for name, value in headers if name == HEADER), None))


def _choose(sent: bytes | None) -> str:
    named = None if sent is None else sent.decode("latin-1")
    return named if named is not None and _ACCEPTABLE.fullmatch(named) else str(uuid7())


class RequestId:
    """Assign an id to each request: a valid `X-Request-Id` of the client, else a new one; and sort headers by name.

    A plain function that returns the application's awaitable, since each extra coroutine costs time on every call.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope["type"] == "http":
            scope[HEADERS] = headers = dict(scope["headers"][::-1])
            sent = headers.get(HEADER)
            request_id = str(uuid7()) if sent is None else _choose(sent)  # Most clients send none.
            scope.setdefault("state", {})["request_id"] = request_id
            _set_id(request_id)
        return self._app(scope, receive, send)


class RequestIdHeader:
    """Add the request's id to the answer, and `X-Content-Type-Options: nosniff`.

    Answers of the fast path get both from there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope["type"] != "http":
            return self._app(scope, receive, send)
        header = header_of(scope)

        def send_with_id(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                # Some are there when the request failed, or on the pages.
                message["headers"] = [*headers, *(it for it in (NOSNIFF, header) if it not in headers)]
            return send(message)

        return self._app(scope, receive, send_with_id)


def header_of(scope: Scope) -> tuple[bytes, bytes]:
    """Build the header with the id of a request."""
    return HEADER, scope["state"]["request_id"].encode()


class HeadAsGet:
    """Serves HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope.get("method") != "HEAD":
            return self._app(scope, receive, send)

        def send_without_body(message: Message) -> Awaitable[None]:
            return send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        # Ranges are for GET only: who asks for the head wants to know how large the whole is.
        headers = [header for header in scope["headers"] if header[0] != b"range"]
        return self._app({**scope, "method": "GET", "headers": headers}, receive, send_without_body)

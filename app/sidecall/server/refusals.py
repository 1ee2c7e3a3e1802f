"""Answers of the server itself: to malformed requests, and to requests that the application cannot finish."""

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from fastapi import Request, Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from sidecall.kernel.http import shutdown
from sidecall.kernel.http.problems import problem
from sidecall.kernel.http.request_id import make_request_id

MAX_HEADER_BYTES = 32 * 1024
# Of the length that ids have.
_NO_ID = b"0" * 36


@dataclass(frozen=True, slots=True)
class Refusal:
    """A problem that closes the connection."""

    status: int
    slug: str
    title: str
    detail: str


BAD_REQUEST = Refusal(400, "bad-request", "The request is not HTTP.", "It could not be read.")
NO_HOST = Refusal(400, "bad-request", "The request is not HTTP.", "HTTP/1.1 wants a header `Host`.")
HOSTS = Refusal(400, "bad-request", "The request is not HTTP.", "There may be only one header `Host`.")
NO_PROXY = Refusal(400, "bad-request", "The request is not HTTP.", "CONNECT is for proxies, which this is not.")
TARGET_WRONG = replace(NO_HOST, detail="Its target is neither a path, such as `/tools`, nor a whole address.")
HOST_DIFFERS = replace(NO_HOST, detail="Its target and its header `Host` name different servers.")
CODING_WRONG = replace(
    NO_HOST, detail="Nobody can tell by its `Transfer-Encoding` where its body ends; send `chunked`, once, in HTTP/1.1."
)
CODING_UNKNOWN = Refusal(
    501,
    "unknown-coding",
    "The body is coded in a way that this server does not undo.",
    "Send it with `Transfer-Encoding: chunked` and no other coding, or with `Content-Length`.",
)
VERSION_UNKNOWN = Refusal(
    505,
    "unknown-version",
    "This server does not speak that version of HTTP.",
    "It speaks HTTP/1.1 and HTTP/1.0; the first line of a request has to say which.",
)
BODY_CHOPPED = Refusal(400, "bad-request", "The request is not HTTP.", "Its body comes in too many tiny chunks.")
HEADERS_LATE = Refusal(408, "request-timeout", "The request did not arrive in time.", "Its headers took too long.")
BODY_LATE = Refusal(408, "request-timeout", "The request did not arrive in time.", "Its body took too long.")
HEADERS_LARGE = Refusal(
    431,
    "headers-too-large",
    "The headers are larger than this server takes.",
    f"They may have {MAX_HEADER_BYTES} bytes.",
)
TRAILERS_LARGE = replace(HEADERS_LARGE, detail=f"What stands beside chunks may have {MAX_HEADER_BYTES} bytes.")
FULL = Refusal(
    503,
    "too-many-connections",
    "So many connections are open that this server takes no more.",
    "Close connections that you do not use, or come back later.",
)
ROOM_FULL = Refusal(
    503,
    "too-many-bytes",
    "So many bytes of requests are in flight that this server takes no more.",
    "Send the request again, in one go; it came too slowly, or at a bad time.",
)
SHUTTING_DOWN = Refusal(shutdown.STATUS, shutdown.SLUG, shutdown.TITLE, shutdown.DETAIL)


def response_to(scope: MutableMapping[str, Any], refusal: Refusal) -> Response:
    """Build the answer to a request, with its id."""
    request_id = scope.setdefault("state", {}).setdefault("request_id", make_request_id(scope.get("headers", ())))
    may_return = refusal.status == 503
    members: dict[str, Any] = {"retryable": True} if may_return else {}
    response = problem(Request(scope), refusal.status, refusal.slug, refusal.title, refusal.detail, **members)
    response.headers.update({"Connection": "close", "X-Request-Id": request_id})
    if may_return:
        response.headers["Retry-After"] = "1"
    return response


def bytes_of(refusal: Refusal, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Write a complete answer without a request; must be fast, since there may be thousands at once."""
    lines = b"".join([name + b": " + value + b"\r\n" for name, value in headers])
    answer = _write(refusal).replace(_NO_ID, make_request_id(()).encode())
    return STATUS_LINE[refusal.status] + lines + answer


@cache
def _write(refusal: Refusal) -> bytes:
    response = response_to({"type": "http", "state": {"request_id": _NO_ID.decode()}}, refusal)
    lines = [name + b": " + value + b"\r\n" for name, value in response.raw_headers]
    return b"".join([*lines, b"\r\n", bytes(response.body)])

"""Answers of the server itself: to malformed requests, and to requests that the application cannot finish."""

import re
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from fastapi import Request, Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from sidecall.http import problems
from sidecall.http.problems import problem
from sidecall.http.request_id import make_request_id

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

SHUTTING_DOWN = Refusal(problems.STATUS, problems.SLUG, problems.TITLE, problems.DETAIL)


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


# What the parser says of a version that it does not know; it stops there.
_UNKNOWN_VERSION = "Invalid HTTP version"
# Those that are spoken here. The parser knows others, also that of a first line which names none.
_SPOKEN = frozenset(("1.0", "1.1"))
# A target that names its server as well (RFC 9112, 3.2.2); without a user, which has no meaning there.
_WHOLE_URL = re.compile(rb"(https?)://([a-z0-9._~%:\[\]-]+)(?:[/?][^#]*)?", re.IGNORECASE | re.DOTALL)

_PORTS = {b"http": b"80", b"https": b"443"}

_Headers = Iterable[tuple[bytes, bytes]]


def check_version(version: str) -> Refusal | None:
    """Return why a request's HTTP version is refused, or None."""
    return None if version in _SPOKEN else VERSION_UNKNOWN


def classify_error(reason: str, refusal: Refusal) -> Refusal:
    """Return the answer to an unparsable request: `refusal`, or a better one by the parser's reason."""
    return VERSION_UNKNOWN if reason == _UNKNOWN_VERSION else refusal


def check_transfer_coding(headers: _Headers, version: str) -> Refusal | None:
    """Return how to refuse a body's transfer coding; None for the only supported one, `chunked` in HTTP/1.1."""
    codings = [value.strip(b" \t").lower() for name, value in headers if name == b"transfer-encoding"]
    if version == "1.0":
        return CODING_WRONG
    if codings == [b"chunked"]:
        return None
    return _check_codings([coding.strip(b" \t") for coding in b",".join(codings).split(b",")])


def _check_codings(codings: Sequence[bytes]) -> Refusal:
    """Return the refusal of a coding list: unsupported codings, or no defined end of the body."""
    *before, last = codings
    is_whole = last == b"chunked" and b"chunked" not in before and all(before)
    return CODING_UNKNOWN if is_whole else CODING_WRONG


def check_target(method: bytes, target: bytes, headers: list[tuple[bytes, bytes]]) -> Refusal | None:
    """Return why a target that is no plain path is refused, or None.

    If it names a server, that name counts (RFC 9112, 3.2.2). A Host header must agree; a missing one is added.
    """
    if target == b"*" and method == b"OPTIONS":
        return None
    found = _WHOLE_URL.fullmatch(target)
    if found is None:
        return TARGET_WRONG
    scheme, authority = found[1].lower(), found[2]
    hosts = [value for name, value in headers if name == b"host"]
    if not hosts:
        headers.append((b"host", authority))
    return None if all(_tidy(host, scheme) == _tidy(authority, scheme) for host in hosts) else HOST_DIFFERS


def _tidy(authority: bytes, scheme: bytes) -> bytes:
    """Normalize a server's name: lower case, without the default port."""
    return authority.strip(b" \t").lower().removesuffix(b":" + _PORTS[scheme])

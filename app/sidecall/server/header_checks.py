"""Check unusual request heads; usual ones skip these checks."""

import re
from collections.abc import Iterable, Sequence

from sidecall.server.refusals import (
    CODING_UNKNOWN,
    CODING_WRONG,
    HOST_DIFFERS,
    TARGET_WRONG,
    VERSION_UNKNOWN,
    Refusal,
)

# What the parser says of a version that it does not know; it stops there.
_UNKNOWN_VERSION = "Invalid HTTP version"
# Those that are spoken here. The parser knows others, also that of a first line which names none.
_SPOKEN = frozenset(("1.0", "1.1"))
# A target that names its server as well (RFC 9112, 3.2.2); without a user, which has no meaning there.
_WHOLE_URL = re.compile(rb"(https?)://([a-z0-9._~%:\[\]-]+)(?:[/?][^#]*)?", re.IGNORECASE | re.DOTALL)
_PORTS = {b"http": b"80", b"https": b"443"}

_Headers = Iterable[tuple[bytes, bytes]]


def judge_version(version: str) -> Refusal | None:
    """Return why a request's HTTP version is refused, or None."""
    return None if version in _SPOKEN else VERSION_UNKNOWN


def judge_error(reason: str, refusal: Refusal) -> Refusal:
    """Return the answer to an unparsable request: `refusal`, or a better one by the parser's reason."""
    return VERSION_UNKNOWN if reason == _UNKNOWN_VERSION else refusal


def judge_coding(headers: _Headers, version: str) -> Refusal | None:
    """Return how to refuse a body's transfer coding; None for the only supported one, `chunked` in HTTP/1.1."""
    codings = [value.strip(b" \t").lower() for name, value in headers if name == b"transfer-encoding"]
    if version == "1.0":
        return CODING_WRONG
    if codings == [b"chunked"]:
        return None
    return _judge_list([coding.strip(b" \t") for coding in b",".join(codings).split(b",")])


def _judge_list(codings: Sequence[bytes]) -> Refusal:
    """Return the refusal of a coding list: unsupported codings, or no defined end of the body."""
    *before, last = codings
    is_whole = last == b"chunked" and b"chunked" not in before and all(before)
    return CODING_UNKNOWN if is_whole else CODING_WRONG


def judge_target(method: bytes, target: bytes, headers: list[tuple[bytes, bytes]]) -> Refusal | None:
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

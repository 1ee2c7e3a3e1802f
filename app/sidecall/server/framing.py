"""Rebuild request heads, and measure their size."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from httptools import HttpRequestParser, parse_url

# What the target of a request begins with, and does not contain, unless it is an unusual one. Numbers, since to look
# for one in bytes takes a tenth of the time.
SLASH, HASH = b"/#"
# Chunks that a body may have at any size, and the bytes that more of them must have on average.
_FEW_CHUNKS = 16_384
_LEAST_CHUNK = 64

# Targets that need not be read again, and how long they may be.
_REMEMBERED = 256
_SHORT = 128

_Headers = Sequence[tuple[bytes, bytes]]


def complete_scope(scope: Any, method: bytes, version: str, url: bytes, root_path: str) -> None:
    """Add the first line of a request to its scope."""
    path, raw_path, query = _read_short(url) if len(url) <= _SHORT else _read_target(url)
    scope["method"] = method.decode("ascii")
    scope["http_version"] = version
    scope["path"] = root_path + path if root_path else path
    scope["raw_path"] = root_path.encode("ascii") + raw_path if root_path else raw_path
    scope["query_string"] = query


def _read_target(url: bytes) -> tuple[str, bytes, bytes]:
    """Split a target into its path, unchanged, and the query."""
    target = parse_url(url)
    raw_path = target.path or b"/"  # An address without a path means its root.
    path = raw_path.decode("ascii")
    return unquote(path) if "%" in path else path, raw_path, target.query or b""


# Clients ask for the same few again and again.
_read_short = lru_cache(_REMEMBERED)(_read_target)


def write_head(parser: HttpRequestParser, url: bytes, headers: _Headers) -> bytes:
    """Write the head of a request again, without the upgrade to another protocol."""
    lines = [b"%b %b HTTP/%b\r\n" % (parser.get_method(), url, parser.get_http_version().encode())]
    lines += [b"%b: %b\r\n" % header for header in headers if header[0] != b"upgrade"]
    return b"".join([*lines, b"\r\n"])


def size_of(headers: _Headers) -> int:
    """Return the size of headers on the wire."""
    return sum(len(name) + len(value) + len(b": \r\n") for name, value in headers)


def size_of_part(packet: bytes, url: bytes, headers: _Headers) -> int:
    """Count the bytes of a head that began in a packet, after the end of another request, and is incomplete.

    The position where it began is unknown, so what counts is what was parsed of it, and its last line so far. If that
    is the first line, the start of that line belongs to the previous body.
    """
    size = len(url) + size_of(headers)
    line = packet[packet.rfind(b"\n") + 1 :]
    return size if not headers and url in line else size + len(line)


def are_tiny(chunks: int, size: int) -> bool:
    """Return whether a body's chunks are so many and small that they cost more than a body may."""
    return chunks > _FEW_CHUNKS and size < chunks * _LEAST_CHUNK

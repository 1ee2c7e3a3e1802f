"""Serialize spans of calls to OTLP: the few fields that they have.

Protocol Buffers write each field as its number and kind, its length if it has one, and its value; fields of a message
may come in any order. Numbers are those of `opentelemetry/proto/trace/v1/trace.proto`, with whose classes the tests
read the bytes.
"""

from collections.abc import Iterable, Mapping
from struct import Struct

_LENGTHS = tuple(bytes((length,)) for length in range(0x80))

_RESOURCE_SPANS = b"\x0a"
_SCOPE_SPANS = _SPAN = b"\x12"
_TRACE_STATE = b"\x1a"
_NAME = b"\x2a"
_INTERNAL = b"\x30\x01"
_ATTRIBUTE = b"\x4a"
STATUS_UNSET = b"\x7a\x00"
STATUS_ERROR = b"\x7a\x02\x18\x02"
_KEY = _TEXT = b"\x0a"
_VALUE = b"\x12"

# trace_id and span_id, and the times of beginning and end as fixed64.
_IDS = b"\x0a\x10%b\x12\x08%b"
_TIMES = Struct("<cQcQ")
# Of `flags`, a fixed32, the SDK tells whether the parent is in another process.
FLAGS_HERE = b"\x85\x01\x00\x01\x00\x00"
FLAGS_ELSEWHERE = b"\x85\x01\x00\x03\x00\x00"
# Heads are kept of texts that are so short.
_MOST_HEADS = 512


def write_field(kind: bytes, value: bytes) -> bytes:
    """Write a field that has a length."""
    length = len(value)
    return kind + (_LENGTHS[length] if length < 0x80 else _write_length(length)) + value


def _write_length(length: int) -> bytes:
    if length < 0x4000:  # As most spans.
        return bytes((length & 0x7F | 0x80, length >> 7))
    parts = bytearray()
    while length > 0x7F:
        parts.append(length & 0x7F | 0x80)
        length >>= 7
    parts.append(length)
    return bytes(parts)


class TextAttribute:
    """Write an attribute that is a text, of many spans."""

    __slots__ = ("_heads", "_key")

    def __init__(self, key: str) -> None:
        """Write the name once."""
        self._key = write_field(_KEY, key.encode())
        # The prefix of a value with so many bytes.
        self._heads: dict[int, bytes] = {}

    def write(self, value: str) -> bytes:
        """Write it."""
        text = value.encode()
        head = self._heads.get(len(text))
        return (self._write_head(text) if head is None else head) + text

    def _write_head(self, text: bytes) -> bytes:
        length = len(text)
        whole = write_field(_ATTRIBUTE, self._key + write_field(_VALUE, write_field(_TEXT, text)))
        head = whole[: len(whole) - length]
        if length < _MOST_HEADS:
            self._heads[length] = head
        return head


def write_common(name: str, attributes: Mapping[str, str]) -> bytes:
    """Write the name of a span within its process, and attributes of it that are texts."""
    written = (TextAttribute(key).write(value) for key, value in attributes.items())
    return write_field(_NAME, name.encode()) + _INTERNAL + b"".join(written)


def write_parent(span_id: int, trace_state: str) -> bytes:
    """Write the parent of a span, and the trace state."""
    parent = b"\x22\x08" + span_id.to_bytes(8, "big")
    return parent + write_field(_TRACE_STATE, trace_state.encode()) if trace_state else parent


def write_span(trace_id: bytes, span_id: int, began: int, ended: int, *others: bytes) -> bytes:
    """Write a span as one of its scope's, in nanoseconds since 1970; the other fields are written."""
    ids = _IDS % (trace_id, span_id.to_bytes(8, "big"))
    return write_field(_SPAN, b"".join((ids, _TIMES.pack(b"\x39", began, b"\x41", ended), *others)))


def write_batch(resource: bytes, scope: bytes, spans: Iterable[bytes]) -> bytes:
    """Write a request to a collector, with spans of one resource and scope, which are already serialized."""
    return write_field(_RESOURCE_SPANS, resource + write_field(_SCOPE_SPANS, scope + b"".join(spans)))

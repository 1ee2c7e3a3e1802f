"""Framing of messages between the server and tool processes: JSON, preceded by the raw text of an answer."""

import json
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from sidecall.kernel.json_data.to_json import to_plain

# How long the text is, and how long the JSON. The JSON comes last: where a process dies while it answers, what comes
# after can never complete a message.
_LENGTHS = struct.Struct("!II")
# Bytes to ask a socket for at once.
CHUNK = 262_144
# Bytes of a message above which reading must not block other work.
LARGE = 262_144
# What the text is called in the content that it is taken from. Most tools return one and some are long: as UTF-8 it
# costs next to nothing, as JSON a server's event loop stands still.
_TEXT = "content"

# The kind of an event that says what a call costs.
COST = "cost"

# Made once: json.dumps makes an encoder at every call.
_encode = json.JSONEncoder(separators=(",", ":"), default=to_plain).encode


class Message(NamedTuple):
    """A message about a subject, which may be a call."""

    kind: str
    subject: str | None
    content: Any


def pack(kind: str, subject: str | None, content: Any) -> bytes:
    """Pack a message; non-JSON objects are converted, but NaN and lone surrogates are kept.

    Raises:
        ValueError: JSON cannot say it.
    """
    text = b""
    if type(content) is dict and type(content.get(_TEXT)) is str:
        text = content[_TEXT].encode("utf-8", "surrogatepass")
        content = {**content, _TEXT: None} if text else content
    try:
        body = _encode((kind, subject, content)).encode("ascii")
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return b"".join((_LENGTHS.pack(len(text), len(body)), text, body))


class Frames:
    """Assembles messages from chunks."""

    def __init__(self) -> None:
        self._received = bytearray()

    @property
    def missing(self) -> int:
        """The minimum number of bytes that the next message still lacks."""
        return self._end() - len(self._received)

    @property
    def coming(self) -> int:
        """The size of the next message, once its header is read."""
        return self._end() if len(self._received) >= _LENGTHS.size else 0

    def feed(self, piece: bytes) -> Iterator[Message]:
        """Add a chunk, and yield the messages that it completes."""
        return map(unpack, self.split(piece))

    def split(self, piece: bytes) -> Iterator[bytes | bytearray]:
        """Add a chunk, and yield the raw messages that it completes."""
        self._received += piece
        while len(self._received) >= _LENGTHS.size and len(self._received) >= (end := self._end()):
            if len(self._received) == end:  # A large one is not copied.
                message, self._received = self._received, bytearray()
                yield message
                return
            with memoryview(self._received)[:end] as whole:
                first = bytes(whole)
            del self._received[:end]
            yield first

    def _end(self) -> int:
        if len(self._received) < _LENGTHS.size:
            return _LENGTHS.size
        of_text, of_json = _LENGTHS.unpack_from(self._received)
        end: int = _LENGTHS.size + of_text + of_json
        return end


def unpack(message: bytes | bytearray) -> Message:
    """Parse a complete message."""
    with memoryview(message) as whole:
        return _unpack(whole)


def _unpack(whole: memoryview) -> Message:
    text_end = _LENGTHS.size + _LENGTHS.unpack_from(whole)[0]
    message = Message(*json.loads(str(whole[text_end:], "ascii")))
    if text_end > _LENGTHS.size:
        message.content[_TEXT] = str(whole[_LENGTHS.size : text_end], "utf-8", "surrogatepass")
    return message

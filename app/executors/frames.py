"""The messages between a server and its child processes: JSON, with its length before it."""

import json
import struct
from collections.abc import Iterator
from typing import Any

from app.core.jsonable import to_plain

_LENGTH = struct.Struct("!I")
# Bytes to ask a socket for at once.
CHUNK = 262_144


def pack(message: Any) -> bytes:
    """Write a message; what JSON does not know is said as its plain form, but NaN and lone surrogates stay.

    Raises:
        ValueError: JSON cannot say it.
    """
    try:
        body = json.dumps(message, separators=(",", ":"), default=to_plain).encode("ascii")
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Put messages together again from the pieces in which they come."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, piece: bytes) -> Iterator[Any]:
        """Take the next piece, and give each message that it completes."""
        self._received += piece
        while (end := self._end()) is not None:
            message = json.loads(self._received[_LENGTH.size : end])
            del self._received[:end]
            yield message

    def _end(self) -> int | None:
        if len(self._received) < _LENGTH.size:
            return None
        end: int = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
        return end if len(self._received) >= end else None

"""Messages between a server or worker and the process that writes its SQLite file."""

import pickle
import struct
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

from msgspec import Struct

# Both are of the same program, and nobody else has the socket between them.
_NUMBER = struct.Struct("!I")
# The head of a message of one part, as most are.
_HEAD_OF_ONE = struct.Struct("!II")
CHUNK = 1 << 20


class Told(Struct, frozen=True):
    """Notifications of a worker for the others; the writing process passes them on without an answer."""

    words: list[str]


def pack_message(content: Any) -> list[bytes | memoryview]:
    """Write a message in parts; each large value is a part of its own, to avoid copying it."""
    apart: list[pickle.PickleBuffer] = []
    body = pickle.dumps(content, pickle.HIGHEST_PROTOCOL, buffer_callback=apart.append)
    if not apart and len(body) < CHUNK:
        return [_HEAD_OF_ONE.pack(1, len(body)) + body]
    parts: list[bytes | memoryview] = [body, *(buffer.raw() for buffer in apart)]
    head = _NUMBER.pack(len(parts)) + b"".join(_NUMBER.pack(len(part)) for part in parts)
    return [head, *parts]


class Messages:
    """Put messages together from the pieces in which they come."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, piece: bytes) -> Iterator[Any]:
        """Take the next piece, and yield each message that it completes."""
        if not self._received and len(piece) > _HEAD_OF_ONE.size:
            count, size = _HEAD_OF_ONE.unpack_from(piece)
            if count == 1 and len(piece) == _HEAD_OF_ONE.size + size:
                yield pickle.loads(memoryview(piece)[_HEAD_OF_ONE.size :])  # noqa: S301  of our own program
                return
        self._received += piece
        while (ends := self._find_ends()) and len(self._received) >= ends[-1]:
            body, *apart = (bytes(self._received[start:end]) for start, end in pairwise(ends))
            del self._received[: ends[-1]]
            yield pickle.loads(body, buffers=apart)  # noqa: S301  of our own program

    def _find_ends(self) -> list[int]:
        """Find where the head of the next message and each of its parts end; empty while the head is not whole."""
        if len(self._received) < _NUMBER.size:
            return []
        (count,) = _NUMBER.unpack_from(self._received)
        head = _NUMBER.size * (1 + count)
        if len(self._received) < head:
            return []
        sizes = (_NUMBER.unpack_from(self._received, _NUMBER.size * place)[0] for place in range(1, count + 1))
        return list(accumulate(sizes, initial=head))

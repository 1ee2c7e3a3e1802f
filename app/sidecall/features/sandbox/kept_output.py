"""A program's output; memory keeps only its beginning and its end."""

import os
from collections import deque
from collections.abc import Callable

# Opens a file for the whole output; None where there is no room for one.
OpenFile = Callable[[], int | None]


class KeptOutput:
    """Keeps the first and the last half of what is shown, and writes a longer output to a file."""

    def __init__(self, most: int, most_in_file: int = 0, open_file: OpenFile | None = None) -> None:
        """Take the number of bytes to keep, and the maximum size of the file."""
        self._half = max(1, most // 2)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._in_tail = 0
        self._most_in_file = most_in_file
        self._open_file = open_file
        self._file: int | None = None
        self.size = 0
        self.in_file = 0

    @property
    def is_cut(self) -> bool:
        """Whether part of the output is left out."""
        return self.size > 2 * self._half

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        self.size += len(piece)
        if self.is_cut and self._open_file is not None:
            opened, self._open_file = self._open_file(), None
            if opened is not None:
                self._file = opened
                self._write(bytes(self._head) + b"".join(self._tail))
        self._write(piece)
        room = self._half - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        if piece:
            self._tail.append(piece)
            self._in_tail += len(piece)
        while self._tail and self._in_tail - len(self._tail[0]) >= self._half:
            self._in_tail -= len(self._tail.popleft())

    def read(self) -> tuple[bytes, bytes]:
        """Return the beginning and the end; the end is empty if the beginning has everything."""
        tail = b"".join(self._tail)
        if not self.is_cut:
            return bytes(self._head) + tail, b""
        return bytes(self._head), tail[-self._half :]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, piece: bytes) -> None:
        if self._file is None:
            return
        wanted = piece[: max(0, self._most_in_file - self.in_file)]
        try:
            if wanted:
                self.in_file += os.write(self._file, wanted)
        except OSError:  # The disk is full; the part in memory has to suffice.
            self.close()

"""Keep a worker's counts in memory that outlives it, so that the counts of one that was killed are not lost."""

import mmap
import os
import struct
import tempfile
from collections.abc import Mapping, MutableMapping
from multiprocessing import reduction
from typing import Any

# A multiple of a page; blocks lie within one piece.
_PIECE = 256 * 1024
# How many numbers there are, and how long the key is that stands before them.
_HEAD = struct.Struct("=II")
_NUMBER = 8


class CountFile:
    """Numbers by keys in a file without a name, which the supervisor reads and one worker writes.

    To write one costs as much as to write into a list. A key is written before its numbers, and what has no key ends
    the piece.
    """

    def __init__(self, fd: int) -> None:
        """Take the descriptor of a file that is empty, or was written like this."""
        self._fd = fd
        self._end, self._place = 0, 0
        self._piece: mmap.mmap | None = None

    @classmethod
    def create(cls) -> "CountFile":
        """Create an empty file, in memory where the system has such.

        Raises:
            OSError: There is no room for it.
        """
        if hasattr(os, "memfd_create"):
            return cls(os.memfd_create("sidecall-counts"))
        with tempfile.TemporaryFile() as file:
            return cls(os.dup(file.fileno()))

    def __reduce__(self) -> Any:
        """Pass the descriptor on to a process that is started."""
        return _open_again, (reduction.DupFd(self._fd),)

    def block(self, key: str, size: int) -> "memoryview[float]":
        """Return room for so many numbers, which are 0, under a key that has none yet."""
        name = key.encode()
        begin = _HEAD.size + -(-len(name) // _NUMBER) * _NUMBER
        if self._piece is None or self._place + begin + size * _NUMBER > _PIECE:
            os.ftruncate(self._fd, self._end + _PIECE)
            self._piece = mmap.mmap(self._fd, _PIECE, offset=self._end)
            self._end, self._place = self._end + _PIECE, 0
        view, place = memoryview(self._piece), self._place
        self._place += begin + size * _NUMBER
        view[place + _HEAD.size : place + _HEAD.size + len(name)] = name
        view[place : place + _HEAD.size] = _HEAD.pack(size, len(name))
        return view[place + begin : self._place].cast("d")

    def read(self) -> dict[str, list[float]]:
        """Return all numbers by their keys."""
        data = os.pread(self._fd, os.fstat(self._fd).st_size, 0)
        found: dict[str, list[float]] = {}
        for piece in range(0, len(data), _PIECE):
            place, end = piece, piece + _PIECE
            while place + _HEAD.size <= end and (head := _HEAD.unpack_from(data, place))[1]:
                size, length = head
                name = data[place + _HEAD.size : place + _HEAD.size + length].decode()
                place += _HEAD.size + -(-length // _NUMBER) * _NUMBER
                found[name] = list(struct.unpack_from(f"={size}d", data, place))
                place += size * _NUMBER
        return found

    def close(self) -> None:
        """Close the descriptor; blocks that were given stay."""
        os.close(self._fd)


def _open_again(passed: Any) -> CountFile:
    return CountFile(passed.detach())


def add_counts(total: MutableMapping[str, list[float]], more: Mapping[str, list[float]]) -> None:
    """Add numbers to those of the same keys."""
    for key, numbers in more.items():
        known = total.get(key)
        total[key] = numbers if known is None else [one + other for one, other in zip(known, numbers, strict=True)]

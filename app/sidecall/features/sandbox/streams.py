"""Pipes of programs, read on the event loop."""

import asyncio
import os
from collections.abc import Callable

_PIECE = 65_536
# Pieces of one pipe before others get a turn, and pieces that are read at its end.
_MOST_AT_ONCE, _MOST_AT_END = 4, 16


def do_nothing() -> None:
    """Do nothing."""


class Stream:
    """Reads a pipe until its other end is closed or the reader has enough."""

    def __init__(self, fd: int, take: Callable[[bytes], None], at_end: Callable[[], None] = do_nothing) -> None:
        """Start to hand each piece on; `at_end` is called at the end."""
        self._at_end = at_end
        self._fd = fd
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._is_open = True
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._read)

    def _read(self) -> None:
        for _ in range(_MOST_AT_ONCE):
            if not self._read_once():
                return

    def _read_once(self) -> bool:
        try:
            piece = os.read(self._fd, _PIECE)
        except BlockingIOError:
            return False
        except OSError:
            piece = b""
        if piece:
            self._take(piece)
            return len(piece) == _PIECE
        self.close()
        return False

    def read_on(self) -> None:
        """Read what is in the pipe now, even if a program keeps filling it."""
        for _ in range(_MOST_AT_END):
            if not (self._is_open and self._read_once()):
                return

    def finish(self) -> None:
        """Read what is left in the pipe, without waiting for its other end to close."""
        self.read_on()
        self.close()

    def close(self) -> None:
        """Stop reading."""
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._at_end()


async def wait_until_readable(fd: int) -> None:
    """Wait until there is something to read or, for a process, until it has ended."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not future.done():
            future.set_result(None)

    loop.add_reader(fd, settle)
    try:
        await future
    finally:
        loop.remove_reader(fd)

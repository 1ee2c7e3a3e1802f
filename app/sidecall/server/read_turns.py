"""Let connections read in turns what takes long, so that the others are served in between."""

import asyncio
from collections import deque
from time import perf_counter
from typing import Protocol

# Seconds of reading between two looks at what has come meanwhile.
_TURN = 0.005


class PieceReader(Protocol):
    """Reads in pieces what has come."""

    def read_piece(self) -> bool:
        """Read a piece, and return whether there is more to read now."""


class ReadTurns:
    """The connections of one event loop with much to read; each reads a piece, and then waits for the others."""

    __slots__ = ("_is_due", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[PieceReader] = deque()
        self._is_due = False

    def join(self, reader: PieceReader) -> None:
        """Let a connection read until it has nothing more."""
        self._waiting.append(reader)
        if not self._is_due:
            self._continue()

    def _continue(self) -> None:
        self._is_due = bool(self._waiting)
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._take_turns)

    def _take_turns(self) -> None:
        end = perf_counter() + _TURN
        try:
            while self._waiting:
                reader = self._waiting.popleft()
                if reader.read_piece():
                    self._waiting.append(reader)
                if perf_counter() >= end:
                    break
        finally:
            self._continue()

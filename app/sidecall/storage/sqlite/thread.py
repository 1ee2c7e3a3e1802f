"""A thread that writes a SQLite database: one in memory, or one with few writes."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from sidecall.storage.sqlite.writer_connection import Hear, Order, Outcomes, Usable, WriterConnection

# Seconds without work after which it is looked what has become of the file.
_LOOK = 1.0
_Work = Callable[[], Outcomes]


class ThreadWriter:
    """Writes in a thread of this process."""

    def __init__(self, pen: WriterConnection) -> None:
        self._pen = pen
        self._sent: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()

    def open(self) -> Usable:
        """Open the file."""
        return self._pen.open()

    async def start(self, hear: Hear) -> None:
        """Begin to write."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, args=(loop, hear), name="sidecall-ledger", daemon=True).start()

    def send(self, group: Sequence[Order], *, is_large: bool) -> None:  # noqa: ARG002  nothing is copied here
        """Queue a group to be written."""
        self._sent.put(partial(self._pen.write, group))

    def try_again(self, is_damaged: bool) -> None:
        """Try whether the file can be used again."""
        self._sent.put(partial(self._pen.try_again, is_damaged))

    def finish(self) -> None:
        """Write what was sent, and close the file."""
        self._sent.put(None)

    def give_up(self) -> None:
        """Do nothing: a thread cannot be killed."""

    def forget(self) -> None:
        """Do nothing: the thread has ended."""

    def _run(self, loop: asyncio.AbstractEventLoop, hear: Hear) -> None:
        look = None if self._pen.in_memory else _LOOK
        while True:
            try:
                work = self._sent.get(timeout=look)
            except queue.Empty:
                if (trouble := self._pen.look()) is not None:
                    _call_on(loop, hear, trouble)
                continue
            if work is None:
                break
            _call_on(loop, hear, work())
        self._pen.close()
        _call_on(loop, hear, None)


def _call_on(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *args: Any) -> None:
    with suppress(RuntimeError):  # The loop is closed, with all its waiters.
        loop.call_soon_threadsafe(function, *args)

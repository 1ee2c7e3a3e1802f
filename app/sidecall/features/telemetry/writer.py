"""Write lines from a background thread, so that a slow reader never blocks calls."""

import os
import select
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue

# Bytes of a waiting line besides its text, about.
_OVERHEAD = 64
# Bytes that are written at once, and seconds in which lines are collected; waking the thread for each costs more.
_BATCH = 1024 * 1024
_GATHERING = 0.02
# Seconds between two looks whether everything is written.
_MOMENT = 0.005


class LineWriter:
    """Queue lines in order for the writing thread; lines without room are dropped.

    Nothing here takes a lock, so that lines may come from any thread, signal handler or finalizer.
    """

    def __init__(self, fd: int, most_bytes: int, tell_dropped: Callable[[int], object]) -> None:
        """Start to write.

        Args:
            fd: The descriptor.
            most_bytes: Maximum bytes that may wait; more is dropped.
            tell_dropped: Called from the thread with the number of dropped lines, once lines can be written again.
        """
        self.dropped = 0
        self._fd = fd
        self._most = most_bytes
        self._tell_dropped = tell_dropped
        self._told = 0
        # Its C methods are safe in signal handlers, unlike those of `queue.Queue` and `Event`.
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._bell: SimpleQueue[None] = SimpleQueue()
        # Bytes received and bytes written; nothing is called between reading and setting one, which is when Python
        # switches threads.
        self._come = 0
        self._gone = 0
        self._is_copy = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=partial(_become_copy, weakref.ref(self)))
        threading.Thread(target=self._work, name="sidecall-log", daemon=True).start()

    def write(self, line: bytes, *, is_urgent: bool = False) -> None:
        """Queue whole lines; urgent ones are written at once, with those before them."""
        if self._is_copy:
            self._write(line)
            return
        size = len(line) + _OVERHEAD
        if self._come - self._gone + size > self._most:
            count = line.count(b"\n")
            self.dropped += count
            return
        self._come += size
        self._lines.put(line)
        if is_urgent:
            self._bell.put(None)

    def flush(self, seconds: float) -> bool:
        """Wait until everything received is written, up to a timeout; return whether it is."""
        goal = self._come
        self._bell.put(None)
        # Counted in polls, since a process without processor time has none for its thread either.
        for _ in range(round(seconds / _MOMENT)):
            if self._gone >= goal or self._is_copy:
                return True
            time.sleep(_MOMENT)
        return self._gone >= goal

    def become_copy(self) -> None:
        """Write without the thread, which a process that was forked off does not have."""
        self._is_copy = True

    def _work(self) -> None:
        while True:
            lines = self._gather()
            is_written = self._write(b"".join(lines))
            self._gone += sum(map(len, lines)) + _OVERHEAD * len(lines)
            if not is_written:
                count = sum(line.count(b"\n") for line in lines)
                self.dropped += count
            elif self.dropped != self._told:
                count = self.dropped - self._told
                self._told += count
                self._tell_dropped(count)
            self._wait()

    def _gather(self) -> list[bytes]:
        """Wait for a line, and take all that are queued."""
        lines = [self._lines.get()]
        size = len(lines[0])
        while size < _BATCH and not self._lines.empty():
            lines.append(self._lines.get_nowait())
            size += len(lines[-1])
        return lines

    def _wait(self) -> None:
        """Collect lines until one is urgent."""
        if self._come - self._gone < _BATCH:
            with suppress(Empty):
                self._bell.get(timeout=_GATHERING)
        while not self._bell.empty():
            self._bell.get_nowait()

    def _write(self, piece: bytes) -> bool:
        """Return whether there was anybody to write to."""
        view = memoryview(piece)
        try:
            while view:
                try:
                    view = view[os.write(self._fd, view) :]
                except BlockingIOError:  # Another process that shares the descriptor has set it.
                    select.select([], [self._fd], [])
        except (OSError, ValueError):
            return False
        return True


def _become_copy(reference: "weakref.ref[LineWriter]") -> None:
    writer = reference()
    if writer is not None:
        writer.become_copy()

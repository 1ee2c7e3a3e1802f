"""Write lines from a background thread, so that a slow reader never blocks calls."""

import atexit
import io
import logging
import os
import select
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NoReturn

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


logger = logging.getLogger("sidecall")

# Taken before tools are loaded, during which it is replaced so that they cannot end the process.
_end_process = os._exit
# Seconds that an exit waits for slow readers.
_PATIENCE = 1.0


class PrintBuffer(io.RawIOBase):
    """The lower end of a text stream, which splits prints into lines."""

    def __init__(self, writer: LineWriter, fd: int) -> None:
        super().__init__()
        self.writer = writer
        self._fd = fd

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, piece: Any) -> int:
        """Queue it for writing."""
        self.writer.write(bytes(piece))
        return len(piece)

    def fileno(self) -> int:
        """Return the descriptor of the stream, for programs that inherit it."""
        return self._fd

    def isatty(self) -> bool:
        """Return whether a person reads along."""
        return os.isatty(self._fd)


class LineHandler(logging.StreamHandler[Any]):
    """Write log lines to stderr, through its writer if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; warnings are written at once."""
        writer = find_writer(self.stream)
        if writer is None:
            super().emit(record)
            return
        try:
            line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")
            writer.write(line, is_urgent=record.levelno >= logging.WARNING)
        except Exception:
            self.handleError(record)


def redirect_streams(most_bytes: int) -> None:
    """Buffer the process's logs and prints, up to so many bytes a stream, so that slow readers block nothing."""
    out, err = sys.stdout, sys.stderr
    to_err = LineWriter(err.fileno(), most_bytes, partial(_log_dropped, "stderr"))
    to_out = to_err  # Where both lead to the same file, their lines keep their order.
    if not os.path.sameopenfile(out.fileno(), err.fileno()):
        to_out = LineWriter(out.fileno(), most_bytes, partial(_log_dropped, "stdout"))
    for stream in (out, err):
        stream.flush()
    sys.stdout = _replace(out, to_out)
    sys.stderr = _replace(err, to_err)
    atexit.register(flush_streams)


def find_writer(stream: Any) -> LineWriter | None:
    """Return the writer of a stream; None if it was not redirected."""
    buffer = getattr(stream, "buffer", None)
    return buffer.writer if isinstance(buffer, PrintBuffer) else None


def count_dropped() -> int:
    """Return how many lines this process has dropped since its start."""
    return sum(writer.dropped for writer in _writers())


def flush_streams() -> None:
    """Wait a moment until all output is written."""
    if find_writer(sys.stdout) is not None:
        sys.stdout.flush()
    patience = _PATIENCE
    for writer in _writers():
        if not writer.flush(patience):
            patience = 0.0


def exit_now(code: int) -> NoReturn:
    """End this process without clean-up, after flushing its output."""
    flush_streams()
    _end_process(code)


def log_last(words: str) -> None:
    """Write a log line from a signal handler, where locks and so loggers must not be used."""
    record = logger.makeRecord(logger.name, logging.WARNING, __file__, 0, words, (), None)
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LineHandler):
            handler.emit(record)


def _writers() -> Iterator[LineWriter]:
    found = (find_writer(sys.stdout), find_writer(sys.stderr))
    return iter({id(writer): writer for writer in found if writer is not None}.values())


def _replace(stream: Any, writer: LineWriter) -> io.TextIOWrapper:
    printed: Any = PrintBuffer(writer, stream.fileno())
    return io.TextIOWrapper(printed, encoding=stream.encoding, errors="backslashreplace", line_buffering=True)


def _log_dropped(name: str, count: int) -> None:
    logger.warning("%d lines dropped, since nobody read %s", count, name, extra={"dropped": count})

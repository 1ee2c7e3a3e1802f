"""Standard output and error of this process: written by background threads, and flushed at every exit."""

import atexit
import io
import logging
import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NoReturn

from sidecall.features.telemetry.writer import LineWriter

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

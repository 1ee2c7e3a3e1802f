"""Log errors of the operating system as one line instead of a traceback."""

import errno
import logging
import os
import time

from sidecall.kernel.core.overload import PartUnavailable

logger = logging.getLogger("sidecall")

_SHORTAGES = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM))
_SHORT = "The system gives this server no more open files, or no more memory, at the moment; its log has the details."
# Seconds in which a shortage is told once, however many requests it meets.
_QUIET = 60.0


def format_system_refusal(error: BaseException) -> str | None:
    """Return the description of an operating system error behind an exception; None for other errors."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            return _word(cause)
        # Python's own words, as there is no number in it.
        if isinstance(cause, RuntimeError) and "can't start new thread" in str(cause):
            return "no more threads can be started; raise the limit (ulimit -u, TasksMax, --pids-limit)"
        cause = cause.__cause__ or cause.__context__
    return None


def _word(error: OSError) -> str:
    said = error.strerror or str(error) or type(error).__name__
    place = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
    return f"{said}{place}{_REMEDIES.get(error.errno or 0, '')}"


_REMEDIES = {
    errno.EMFILE: "; raise the limit (ulimit -n, LimitNOFILE, --ulimit nofile)",
    errno.EAGAIN: "; raise the limit of processes (ulimit -u, TasksMax, --pids-limit)",
    errno.ENOMEM: "; give it more memory",
}


class _ShortageLog:
    """Logs a shortage at most once a minute, with advice."""

    def __init__(self) -> None:
        self._next = 0.0

    def tell(self, error: OSError) -> None:
        """Log it, unless one was logged just before."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _QUIET
            logger.error("requests are refused with 503 for a moment: %s", _word(error))


_teller = _ShortageLog()


def find_shortage(error: BaseException) -> PartUnavailable | None:
    """Return the error for clients if the system is short of files or memory, and log it; None for other errors."""
    shortage = _read_shortage(error)
    if shortage is None:
        return None
    _teller.tell(shortage)
    return PartUnavailable(_SHORT)


def _read_shortage(error: BaseException) -> OSError | None:
    if isinstance(error, OSError):
        return error if error.errno in _SHORTAGES else None
    # A library in C that cannot be opened is told of in words alone.
    said = str(error) if isinstance(error, ImportError) else ""
    found = next((number for number in _SHORTAGES if os.strerror(number) in said), None)
    return None if found is None else OSError(found, os.strerror(found))

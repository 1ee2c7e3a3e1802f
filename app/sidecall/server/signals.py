"""Which signals end the server, how while nothing is served, and exit codes.

It imports next to nothing, so that it can be imported first.
"""

import os
import signal
from collections.abc import Callable

# A closed terminal, or a logout; it often comes with others, so it never counts as the second signal, which exits at
# once.
HANG_UP: int | None = getattr(signal, "SIGHUP", None)
# Has a server load its tools again; Windows has none.
RELOAD: int | None = getattr(signal, "SIGUSR1", None)
# The exit code of shells for Ctrl+C.
INTERRUPTED = 130
# That of a server which has to be started again, since its store was changed under it: EX_TEMPFAIL of sysexits.h.
START_AGAIN = 75
# That of one which could not start, as uvicorn's.
START_FAILED = 3
# What a server ends with that was given something wrong, and what its workers do, since a crash has the first, too.
REFUSED, START_REFUSED = 1, 4


def ending_signals() -> list[int]:
    """List the signals that shut a server down; a hang-up is ignored under `nohup`."""
    listens = HANG_UP is not None and signal.getsignal(HANG_UP) is not signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([HANG_UP] if HANG_UP is not None and listens else [])]


def on_reload(reload: Callable[[], object] = lambda: None) -> None:
    """Call a function on the signal for a reload; without one the signal does nothing, and does not end the process."""
    if RELOAD is not None:
        signal.signal(RELOAD, lambda *_: reload())


def leave_on(*numbers: signal.Signals, end: Callable[[int], object] = os._exit, code: int = 0) -> None:
    """Exit on these signals while nothing is served; the kernel ignores their defaults for process 1 of a container."""
    for number in numbers:
        signal.signal(number, lambda *_: end(code))


def as_shells_do(code: int) -> int:
    """Return the exit code of a process as shells write it: 128 and the number for one that a signal has killed."""
    return code if code >= 0 else 128 - code

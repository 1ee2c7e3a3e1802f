"""Watch the event loop from a thread, since a blocked loop can report nothing."""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType

from sidecall.features.telemetry.log_writer import exit_now

logger = logging.getLogger("sidecall")

_TICK = 0.25
# What is shorter is not counted: a loop that has much to do beats late, too.
_COUNTED = 0.5
# What runs there is below this file; what is above is our own start.
_RUNNER = os.path.join("asyncio", "runners.py")


class EventLoopStuck(Exception):
    """What runs here has to be async, or to run in a thread (executor="thread")."""


class Watchdog:
    """Logs what blocks the event loop, and ends the process if it stays blocked.

    A liveness probe fails then anyway; the log adds the stack of the culprit. Time is counted in ticks of the watching
    thread, so that a process that was suspended or starved does not count as blocked.
    """

    def __init__(
        self,
        stuck_after: float,
        end: Callable[[int], object] = exit_now,
        note: Callable[[float], object] = lambda _: None,
    ) -> None:
        """Log after `stuck_after` seconds; `note` gets the additional blocked seconds."""
        self._stuck_after = stuck_after
        self._note = note
        self._tick = min(_TICK, stuck_after / 4)
        self._end = end
        self._beats = 0
        self._is_resting = True
        self._last_moment: tuple[float, int] | None = None

    def start(self) -> None:
        """Watch the calling thread, until the process ends."""
        self._watched = threading.get_ident()
        threading.Thread(target=self._watch, name="sidecall-watchdog", daemon=True).start()

    def beat(self) -> None:
        """Note that the event loop is alive; watching begins with the first call."""
        self._beats += 1
        self._is_resting = False

    def rest(self) -> None:
        """Expect no more beats."""
        self._is_resting = True

    def end_within(self, seconds: float, code: int) -> None:
        """End the process with this code if it does not end in time."""
        self._last_moment = (time.monotonic() + seconds, code)

    def _watch(self) -> None:
        seen, silent, is_told = -1, 0.0, False
        while not self._has_ended():
            time.sleep(self._tick)
            if self._beats != seen or self._is_resting:
                if is_told and not self._is_resting:
                    logger.warning("the event loop goes on, after %.1f s", silent)
                seen, silent, is_told = self._beats, 0.0, False
                continue
            silent += self._tick
            if silent >= _COUNTED:
                self._note(silent if silent - self._tick < _COUNTED else self._tick)
            if silent >= self._stuck_after and not is_told:
                self._tell(silent)
                is_told = True

    def _has_ended(self) -> bool:
        if self._last_moment is None or time.monotonic() < self._last_moment[0]:
            return False
        code = self._last_moment[1]
        left = [thread.name for thread in threading.enumerate() if not thread.daemon]
        level = logging.ERROR if code else logging.WARNING
        logger.log(level, "the process does not end by itself and is ended; still running: %s", ", ".join(left))
        self._end(code)
        return True

    def _tell(self, seconds: float) -> None:
        error = EventLoopStuck(EventLoopStuck.__doc__)
        trace = _traceback_of(sys._current_frames().get(self._watched))
        text = "the event loop has been stuck for %.1f s, and nobody is answered meanwhile"
        logger.error(text, seconds, exc_info=(EventLoopStuck, error, trace))


def _traceback_of(frame: FrameType | None) -> TracebackType | None:
    trace = None
    while frame is not None and not frame.f_code.co_filename.endswith(_RUNNER):
        trace = TracebackType(trace, frame, frame.f_lasti, frame.f_lineno or 0)
        frame = frame.f_back
    return trace

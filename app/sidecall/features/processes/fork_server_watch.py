"""The orders of a server to its fork server, and of that to its templates; kill one that hangs."""

import logging
import select
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

logger = logging.getLogger("sidecall")

# What to do, the number of the process to do it to, and the generation of code that a new one loads: where it is 0, the
# process imports the tools by itself.
ORDER = struct.Struct("!cQQ")
FORK, KILL = b"f", b"k"
# To a template: fork no more, and end with the last process.
RETIRE = b"r"
# What the fork server answers as soon as it has taken an order, and a template also once it is ready.
SIGN = b"."

# Seconds between two looks. Looks are counted rather than seconds, so that the time for which this process was stopped
# itself does not count.
_LOOK = 1.0
# Looks without a sign of life, while an order is open, after which it stands still; until its first sign it has more,
# since it has to import everything.
_STANDS_STILL_AFTER = 5
_STARTS_WITHIN = 60
# Seconds that a killed process has for its end; one whose cgroup is frozen may not come to it.
_SECONDS_TO_END = 2.0


class StartedProcess(Protocol):
    """A process that was started, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int:
        """Its process id."""

    def poll(self) -> int | None:
        """Return its exit code; None where it runs, or is not known."""

    def kill(self) -> None:
        """Kill it."""

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until it has ended, and return its exit code, if that is known.

        Raises:
            subprocess.TimeoutExpired: It has not within so many seconds.
        """


class ForkServerWatch:
    """Counts unconfirmed orders of a fork server; a thread reads its signs of life, one byte each."""

    def __init__(self, control: socket.socket, process: StartedProcess, let_go: Callable[[bool], object]) -> None:
        """Begin to watch.

        Args:
            control: The socket over which it is told what to do, and confirms it.
            process: Its process.
            let_go: Called in the thread when it was killed, with whether it has ended.
        """
        self._control = control
        self._process = process
        self._let_go = let_go
        self._changed = threading.Condition()
        self._open = 0
        self._is_over = False
        self.has_given_up = False
        threading.Thread(target=self._watch, name="sidecall-fork-server", daemon=True).start()

    def note_order(self) -> None:
        """Expect one more confirmation."""
        with self._changed:
            self._open += 1
            self._changed.notify()

    def stop(self) -> None:
        """Stop watching."""
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def give_up(self) -> None:
        """Kill the unresponsive process, and wait for its end in a thread."""
        with self._changed:
            if self.has_given_up or self._is_over:
                return
            self.has_given_up = True
            self._changed.notify()
        logger.warning(
            "the process from which tools' processes are forked stands still; it is killed, and another takes its place"
        )
        self._process.kill()

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        silent, most = 0, _STARTS_WITHIN
        while self._wait_for_order():
            if not poll.poll(_LOOK * 1000):
                silent += 1
                if silent >= most:
                    self.give_up()
            elif self._read_signs():
                silent, most = 0, _STANDS_STILL_AFTER
            else:
                return  # It has ended, which the next order finds out.
        if self.has_given_up:
            self._await_end()

    def _wait_for_order(self) -> bool:
        """Wait until there is an order to confirm; return False once watching has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._open or self._is_over or self.has_given_up)
            return not self._is_over and not self.has_given_up

    def _read_signs(self) -> int:
        """Return the number of signs of life; none once the process has ended."""
        try:
            count = len(self._control.recv(4096))
        except BlockingIOError:
            return 1
        except OSError:
            return 0
        with self._changed:
            self._open = max(0, self._open - count)
        return count

    def _await_end(self) -> None:
        has_ended = await_end(self._process)
        with suppress(OSError):
            self._let_go(has_ended)
        if not has_ended:
            self._process.wait()


def await_end(process: StartedProcess) -> bool:
    """Wait for a while for the end of a killed process, and return whether it has ended."""
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        return False
    return True

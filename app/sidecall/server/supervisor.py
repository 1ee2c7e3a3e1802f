"""Run several server processes on one socket, and end them together.

Uvicorn's own supervisor only runs uvicorn's servers, reports ready before any worker is, sends each a second signal
after Ctrl+C, keeps the socket open while they drain, and leaves them running when it is killed.
"""

import logging
import multiprocessing
import os
import signal
import socket as sockets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from socket import socket
from types import FrameType

from sidecall.features.telemetry.count_file import CountFile
from sidecall.features.telemetry.log_writer import log_last
from sidecall.kernel.concurrency.descendants import describe_end
from sidecall.server.signals import (
    HANG_UP,
    REFUSED,
    START_AGAIN,
    START_FAILED,
    START_REFUSED,
    as_shells_do,
    ending_signals,
    on_reload,
)
from sidecall.server.worker_messages import Hub, WorkerLink

logger = logging.getLogger("sidecall")

# What a worker does with the socket, saying when it serves, and with its link to the other workers.
Work = Callable[[socket, Callable[[], None], WorkerLink], None]
_UNSTARTED = (START_FAILED, START_REFUSED)
# Without a fault: by itself, or by the signal that was passed on to it before it could handle any.
_IN_ORDER = {0, *(-number for number in (signal.SIGINT, signal.SIGTERM, HANG_UP or 0))}
# Seconds between a worker's death and its successor, so that one that cannot live does not spin. They are doubled for
# each in its place that died before it served, and after so many of those the server gives up.
_PAUSE = 1.0

_MOST_STARTS = 3

_TICK = 1.0
# Seconds between the signs of life of a worker. They come from a thread, also while its event loop is blocked.
_PULSE = 1.0


@dataclass(eq=False, slots=True)
class _Worker:
    process: SpawnProcess
    # Which start in its place this is, since the last worker there that has served.
    trial: int
    pulse: Connection
    has_served: bool = False
    # Seconds since its last sign of life; None before the first one.
    silent: float | None = None

    def listen(self, seconds: float) -> None:
        """Take its signs of life; so many seconds have passed since they were taken last."""
        if self.silent is not None:
            self.silent += seconds
        with suppress(OSError, EOFError):
            while self.pulse.poll():
                self.pulse.recv_bytes()
                self.silent = 0.0


class Supervisor:
    """Keeps a number of processes running, until a signal ends them all.

    The first signal is passed on unchanged; a second one kills them.
    """

    def __init__(
        self,
        count: int,
        work: Work,
        sock: socket,
        seconds_to_end: float,
        on_started: Callable[[], object],
        silent_after: float = 0.0,
    ) -> None:
        """Prepare `count` workers; `on_started` is called once all of them are serving.

        One without a sign of life for `silent_after` seconds is killed; none is with 0.
        """
        self._count = count
        self._work = work
        self._sock = sock
        self._address = sock.getsockname()
        self.scheme = "http"
        self._seconds_to_end = seconds_to_end
        self._on_started = on_started
        self._silent_after = silent_after
        self._looked_at = time.monotonic()
        self._workers: list[_Worker] = []
        # When the next worker of a place that is empty starts, and which trial that is.
        self._empty: list[tuple[float, int]] = []
        self._context = multiprocessing.get_context("spawn")
        self._news, self._ready = self._context.Pipe(duplex=False)
        self._hub = Hub()
        self._serving = 0
        self._ends_at: float | None = None
        self._at_once = False
        self._has_given_up = False
        self._code = 0

    def run(self) -> int:
        """Return the exit code once every worker has ended."""
        for number in ending_signals():
            signal.signal(number, self._pass_on)
        on_reload(self._hub.reload)
        for _ in range(self._count):
            self._start(trial=1)
        while self._workers or self._empty:
            wait([self._news, *(worker.process.sentinel for worker in self._workers)], timeout=self._find_pause())
            dead = [worker for worker in self._workers if not worker.process.is_alive()]
            self._listen()  # After the look at who is dead, who may have served before.
            for worker in dead:
                self._bury(worker)
            self._kill_silent()
            self._fill()
            if self._ends_at is not None and time.monotonic() > self._ends_at:
                logger.error("workers do not end by themselves and are killed: %d", len(self._workers))
                self._kill()
        return self._code

    def _start(self, trial: int) -> None:
        try:
            counts, (ours, theirs) = CountFile.create(), sockets.socketpair()
            pulse, give_pulse = self._context.Pipe(duplex=False)
            with theirs, give_pulse:
                ways = self._ready, give_pulse
                process = self._context.Process(target=_begin, args=(self._work, self._sock, ways, (theirs, counts)))
                process.start()
        except OSError as error:
            logger.error("no worker process can be started: %s", error.strerror or error)
            self._try_again(trial)
            return
        self._workers.append(_Worker(process, trial, pulse))
        self._hub.add(process.pid or 0, ours, counts)
        if self._ends_at is not None:  # A signal came during the wait.
            process.terminate()

    def _try_again(self, trial: int) -> None:
        """Replace a worker that died before it served, or give up after this many."""
        if trial < _MOST_STARTS:
            self._empty.append((time.monotonic() + _PAUSE * 2 ** max(0, trial - 1), trial + 1))
        elif self._ends_at is None:
            logger.error(
                "%d workers in a row ended before they served; the server ends. Exit code -9 is often a limit of "
                "memory, -11 and -6 are crashes of a library",
                trial,
            )
            self._give_up()

    def _kill_silent(self) -> None:
        """Kill workers without a sign of life, such as stopped ones; others take their places.

        Time in which this process did not run either does not count.
        """
        now = time.monotonic()
        passed, self._looked_at = min(now - self._looked_at, 2 * _TICK), now
        for worker in self._workers:
            worker.listen(passed)
            if worker.silent is not None and 0 < self._silent_after < worker.silent:
                worker.silent = None
                logger.error(
                    "worker %s gives no sign of life for %.0f s, as if it was stopped, and is killed",
                    worker.process.pid,
                    self._silent_after,
                )
                worker.process.kill()

    def _find_pause(self) -> float:
        now = time.monotonic()
        return min([_TICK, *(max(0.0, due - now) for due, _ in self._empty)])

    def _fill(self) -> None:
        """Start the workers that are due; none once shutdown has begun."""
        places, self._empty = self._empty, []
        for due, trial in places:
            if self._ends_at is not None:
                break
            if due > time.monotonic():
                self._empty.append((due, trial))
            else:
                self._start(trial)

    def _listen(self) -> None:
        while self._news.poll():
            number = self._news.recv()
            for worker in self._workers:
                worker.has_served |= worker.process.pid == number
            self._serving += 1
            if self._serving == self._count:
                address = self._address
                where = (
                    f"unix socket {address}"
                    if isinstance(address, str)
                    else f"{self.scheme}://{address[0]}:{address[1]}"
                )
                logger.info("%d workers running on %s (Press CTRL+C to quit)", self._count, where)
                self._on_started()

    def _bury(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.pulse.close()
        process, code = worker.process, worker.process.exitcode or 0
        if self._ends_at is not None:
            self._check_exit(process, code)
        elif code == START_AGAIN:
            self._give_up(START_AGAIN)
        elif code in _UNSTARTED:
            logger.error("worker %s could not start; the server ends", process.pid)
            self._give_up(REFUSED if code == START_REFUSED else START_FAILED)
        elif worker.has_served:
            logger.error("worker %s %s; another one takes its place", process.pid, _say_end(code))
            self._try_again(0)
        else:
            logger.error("worker %s %s, before it served", process.pid, _say_end(code))
            self._try_again(worker.trial)

    def _give_up(self, code: int = START_FAILED) -> None:
        """End, since the server cannot start, or has to be started again.

        How the workers that are left come to their end changes no exit code.
        """
        self._has_given_up = True
        self._code = code
        self._pass_on(signal.SIGTERM)

    def _check_exit(self, process: SpawnProcess, code: int) -> None:
        """Log that a worker did not end in order, and put it into the exit code as shells do."""
        if self._at_once or code in _IN_ORDER or (self._has_given_up and code in (*_UNSTARTED, START_AGAIN)):
            return
        lost = "; what it had not answered is lost" if code < 0 else ""
        logger.error("worker %s %s%s", process.pid, _say_end(code), lost)
        if not self._has_given_up:
            self._code = max(self._code, as_shells_do(code))

    def _pass_on(self, number: int, _frame: FrameType | None = None) -> None:
        if self._ends_at is not None:
            if number == HANG_UP:
                return
            log_last("ended at once by a second signal")
            self._at_once = True
            self._code = 128 + number
            self._kill()
            return
        self._ends_at = time.monotonic() + self._seconds_to_end
        self._sock.close()
        for process in [worker.process for worker in self._workers]:
            if process.pid is not None and process.is_alive():
                os.kill(process.pid, number)

    def _kill(self) -> None:
        for worker in self._workers:
            worker.process.kill()


def _begin(work: Work, sock: socket, ways: tuple[Connection, Connection], peers: tuple[socket, CountFile]) -> None:
    on_reload()
    link, (ready, pulse) = WorkerLink(*peers), ways
    threading.Thread(target=_follow_parent, args=(link, pulse), name="sidecall-parent", daemon=True).start()
    work(sock, lambda: ready.send(os.getpid()), link)


def _follow_parent(link: WorkerLink, pulse: Connection) -> None:
    """Give signs of life, and shut down when the parent process is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        while parent.is_alive():
            with suppress(OSError):
                pulse.send_bytes(b".")
            parent.join(_PULSE)
        link.are_left = True
        os.kill(os.getpid(), signal.SIGTERM)


def _say_end(code: int) -> str:
    """Describe how a worker ended, with its exit code as shells write it."""
    return describe_end(code) if code >= 0 else f"{describe_end(code)} (exit code {as_shells_do(code)})"

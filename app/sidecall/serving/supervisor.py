"""Run several server processes on one socket, and end them as one.

Uvicorn's own supervisor makes uvicorn's servers only, says that it serves before any worker does, sends each a second
signal after Ctrl+C, keeps the socket open while they drain, and leaves them behind when it is killed.
"""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from socket import socket
from types import FrameType

from uvicorn.server import HANDLED_SIGNALS

logger = logging.getLogger("sidecall")

# What a worker does with the socket, saying when it serves.
Work = Callable[[socket, Callable[[], None]], None]
# The exit code of uvicorn for it, too.
START_FAILED = 3
# Without a fault: by itself, or by the signal that was passed on to it before it could handle any.
_IN_ORDER = {0, *(-number for number in HANDLED_SIGNALS)}
# Seconds between a worker's death and its successor, so that one that cannot live does not spin.
_PAUSE = 1.0
_TICK = 1.0


class Supervisor:
    """Keep so many processes at work, until a signal ends them all.

    The first is passed on as it came; a second ends them at once.
    """

    def __init__(self, count: int, work: Work, sock: socket, seconds_to_end: float) -> None:
        self._count = count
        self._work = work
        self._sock = sock
        self._address = sock.getsockname()
        self._seconds_to_end = seconds_to_end
        self._processes: list[SpawnProcess] = []
        self._context = multiprocessing.get_context("spawn")
        self._news, self._ready = self._context.Pipe(duplex=False)
        self._serving = 0
        self._ends_at: float | None = None
        self._at_once = False
        self._code = 0

    def run(self) -> int:
        """Return the exit code once every worker has ended."""
        for number in HANDLED_SIGNALS:
            signal.signal(number, self._pass_on)
        for _ in range(self._count):
            self._start()
        while self._processes:
            wait([self._news, *(process.sentinel for process in self._processes)], timeout=_TICK)
            self._listen()
            for process in [process for process in self._processes if not process.is_alive()]:
                self._bury(process)
            if self._ends_at is not None and time.monotonic() > self._ends_at:
                logger.error("workers do not end by themselves and are killed: %d", len(self._processes))
                self._kill()
        return self._code

    def _start(self) -> None:
        process = self._context.Process(target=_begin, args=(self._work, self._sock, self._ready))
        process.start()
        self._processes.append(process)
        if self._ends_at is not None:  # A signal came meanwhile.
            process.terminate()

    def _listen(self) -> None:
        while self._news.poll():
            self._news.recv()
            self._serving += 1
            if self._serving == self._count:
                host, port, *_ = self._address
                logger.info("%d workers running on http://%s:%d (Press CTRL+C to quit)", self._count, host, port)

    def _bury(self, process: SpawnProcess) -> None:
        self._processes.remove(process)
        code = process.exitcode or 0
        if self._ends_at is not None:
            self._judge(process, code)
        elif code == START_FAILED:
            logger.error("worker %s could not start; the server ends", process.pid)
            self._code = code
            self._pass_on(signal.SIGTERM)
        else:
            logger.error("worker %s died with exit code %s; another one takes its place", process.pid, code)
            time.sleep(_PAUSE)
            if self._ends_at is None:
                self._start()

    def _judge(self, process: SpawnProcess, code: int) -> None:
        """Log that a worker did not end in order, and put it into the exit code as shells do."""
        if self._at_once or code in _IN_ORDER:
            return
        if code < 0:
            logger.error("worker %s was killed by signal %d; what it had not answered is lost", process.pid, -code)
        else:
            logger.error("worker %s ended with exit code %d", process.pid, code)
        self._code = max(self._code, code if code > 0 else 128 - code)

    def _pass_on(self, number: int, _frame: FrameType | None = None) -> None:
        if self._ends_at is not None:
            os.write(2, b"ended at once by a second signal\n")
            self._at_once = True
            self._code = 128 + number
            self._kill()
            return
        self._ends_at = time.monotonic() + self._seconds_to_end
        self._sock.close()
        for process in self._processes:
            if process.pid is not None and process.is_alive():
                os.kill(process.pid, number)

    def _kill(self) -> None:
        for process in self._processes:
            process.kill()


def _begin(work: Work, sock: socket, ready: Connection) -> None:
    threading.Thread(target=_follow_parent, name="sidecall-parent", daemon=True).start()
    work(sock, lambda: ready.send(None))


def _follow_parent() -> None:
    """End when the parent is gone, whatever took it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

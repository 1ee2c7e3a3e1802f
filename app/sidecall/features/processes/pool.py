"""Tool processes up to a number, each lent to one call at a time."""

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from sidecall.features.processes.child import Child, HearCost
from sidecall.features.processes.code import open_code, take_code
from sidecall.features.processes.fork_server_process import ForkServerProcess, Launch, launch_plainly
from sidecall.kernel.concurrency.fair_queue import CallerKey, Turns
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.services import Release

logger = logging.getLogger("sidecall")

# Whose turn it is where no caller asks.
_SERVER = "", ""
_NO_PROCESS = "no process can be started for tools with executor='process'"


def _ignore_cost(_invocation_id: str, _fine: int) -> None:
    """Hear of no costs."""


class ProcessPool:
    """Lends processes, replaces those that end, and lets callers take turns when all are in use.

    One is kept ready, and a call that finds none free has another forked, which takes milliseconds. Where each imports
    the tools by itself, which may take seconds, all are kept ready. A replacement starts in the background.
    """

    def __init__(
        self,
        size: int,
        greet: Callable[[], bytes],
        tools_of: str,
        env: Mapping[str, str] | None = None,
        launch: Launch = launch_plainly,
        *,
        imports_once: bool = True,
    ) -> None:
        """Prepare the pool; the first process is started at the first call.

        Args:
            size: How many there are at most.
            greet: Makes what a new one is told first.
            tools_of: How they list the tools of a module, as `module:function`.
            env: Their environment; that of the server when None.
            launch: Starts the process that makes them.
            imports_once: Fork those with the same code from one that has imported the tools, where these allow it.
        """
        self.size = size
        self._greet = greet
        self._imports_once = imports_once
        self._keeps_all = not imports_once
        self._fork_server = ForkServerProcess(tools_of, env, launch)
        # All processes of a generation load the same code, whenever they start.
        self._code: int | None = None
        # Calls come from any event loop.
        self._lock = threading.Lock()
        self._idle: deque[Child] = deque()
        self._lent: set[Child] = set()
        self._waiting: Turns[asyncio.Future[Child]] = Turns()
        # Kept here, since event loops hold their tasks by weak references only.
        self._ending: set[asyncio.Task[None]] = set()
        self._generation = 0
        self._closed = False
        self._refusal: Exception | None = None
        # It starts the fork server, which may take a while; what it does now, if anything.
        self._starter = ThreadPoolExecutor(1, "sidecall-forks")
        self._start: Future[None] | None = None

    @property
    def kept_ready(self) -> int:
        """How many processes there are at least."""
        return self.size if self._keeps_all else 1

    @property
    def busy(self) -> int:
        """How many processes are in use."""
        return len(self._lent)

    @property
    def waiting(self) -> int:
        """How many calls wait for a process."""
        return len(self._waiting)

    @property
    def fork_server_pid(self) -> int | None:
        """The process id of the fork server; None before the first use."""
        return self._fork_server.pid

    async def acquire(self, caller: CallerKey = _SERVER) -> Child:
        """Wait for a free process, which must be released or replaced. Callers take turns."""
        with self._lock:
            if self._closed:
                raise _make_stop_error()
            if self._waiting.callers:
                self._serve_waiting()  # There may be room again for processes that could not be started.
            child = self._take_idle()
            if child is not None:
                return child
            if not self._lent and self._start is None:
                raise _make_start_error(self._refusal)
            future: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
            self._waiting.join(caller, future)
        try:
            return await future
        except asyncio.CancelledError:
            with self._lock:
                self._waiting.drop(caller, future)
            if future.done() and not future.cancelled() and future.exception() is None:
                self.release(future.result())  # It was lent in the moment of the cancellation.
            raise

    def release(self, child: Child) -> None:
        """Return a process to the pool, unless the code that it loaded has been replaced."""
        with self._lock:
            self._lent.discard(child)
            if self._closed or child.generation != self._generation:
                self._end(child)
            else:
                self._idle.append(child)
            self._serve_waiting()

    def replace(self, child: Child, when_gone: Release | None = None, hear: HearCost = _ignore_cost) -> None:
        """End a process in any state, and start a replacement.

        Args:
            child: The process.
            when_gone: Called once it has ended.
            hear: Told before that what its call has added to its cost and the server has not read yet.
        """
        with self._lock:
            self._lent.discard(child)
            self._end(child, when_gone, hear)
            self._serve_waiting()

    def renew(self) -> None:
        """Replace all processes by new ones with the server's current code: idle ones now, others when released."""
        with self._lock:
            self._generation += 1
            self._keeps_all = not self._imports_once
            self._close_code()
            with suppress(OSError):  # The next borrower tries again.
                self._code = self._open_code()
            idle, self._idle = self._idle, deque()
            for child in idle:
                self._end(child)
            if idle:
                self._fill()

    async def close(self) -> None:
        """End all processes, and refuse waiting calls."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            self._close_code()
            self._refuse_all(_make_stop_error)
        await self._fork_server.close()  # One that is being started ends at once.
        self._starter.shutdown(wait=False, cancel_futures=True)

    def _take_idle(self) -> Child | None:
        """Lend an idle process that is alive; None if there is none."""
        self._fill()
        while self._idle:
            child = self._idle.pop()
            if not child.has_ended():
                self._lent.add(child)
                return child
            self._end(child)
            self._fill()
        return None

    def _keep_all(self, generation: int) -> None:
        """Start all processes, since each imports the tools by itself."""
        with self._lock:
            if generation == self._generation and not self._closed:
                self._keeps_all = True
                self._fill()

    def _fill(self) -> None:
        wanted = self.size if self._keeps_all else min(self.size, len(self._lent) + 1)
        try:
            for _ in range(wanted - len(self._idle) - len(self._lent)):
                if self._code is None:
                    self._code = self._open_code()
                # From 1, since 0 stands for processes that import the tools by themselves.
                ordered = self._fork_server.fork(self._code, self._generation + 1 if self._imports_once else 0)
                if ordered is None:
                    self._begin_start()
                    return
                number, sock = ordered
                sock.setblocking(False)
                # Behind those that are ready.
                keep_all = partial(self._keep_all, self._generation)
                self._idle.appendleft(Child(number, sock, self._generation, self._greet(), keep_all))
        except OSError as error:
            self._note_refusal(error)

    def _note_refusal(self, error: Exception) -> None:
        """Log why no process can be started; the next call tries again."""
        self._refusal = error
        logger.error("%s: %s", _NO_PROCESS, error)

    def _begin_start(self) -> None:
        """Start the fork server unless it is starting; waiting calls are served afterwards."""
        if self._start is None and not self._closed:
            self._start = self._starter.submit(self._start_fork_server)

    def _start_fork_server(self) -> None:
        refusal: Exception | None = None
        try:
            self._fork_server.start()
        except Exception as error:
            refusal = error
        with self._lock:
            self._start = None
            if refusal is None:
                self._serve_waiting()
                return
            self._note_refusal(refusal)
            if not self._lent:
                self._refuse_all(partial(_make_start_error, refusal))

    def _open_code(self) -> int:
        return open_code(take_code(self._greet()))

    def _close_code(self) -> None:
        code, self._code = self._code, None
        if code is not None:
            os.close(code)

    def _end(self, child: Child, when_gone: Release | None = None, hear: HearCost = _ignore_cost) -> None:
        self._fork_server.kill(child.number)
        if when_gone is None:
            child.close()
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # The call was dropped outside of an event loop, and its tool is not awaited.
            child.close()
            when_gone()
            return
        task = loop.create_task(child.wait_until_gone(hear))
        self._ending.add(task)
        task.add_done_callback(partial(self._forget, child, when_gone))

    def _forget(self, child: Child, when_gone: Release, task: asyncio.Task[None]) -> None:
        self._ending.discard(task)
        child.close()
        when_gone()

    def _serve_waiting(self) -> None:
        """Replace a child that is gone, and lend idle processes to waiting calls."""
        if self._closed:
            return
        self._fill()
        while self._waiting.callers and (child := self._take_idle()) is not None:
            future = self._waiting.next()
            try:
                future.get_loop().call_soon_threadsafe(self._deliver, future, child)
            except RuntimeError:  # Its loop is closed, with all its waiters.
                self._lent.discard(child)
                self._idle.append(child)
        if not self._lent and self._start is None:  # So nothing is left to wait for.
            self._refuse_all(partial(_make_start_error, self._refusal))

    def _deliver(self, future: asyncio.Future[Child], child: Child) -> None:
        if future.done():
            self.release(child)
        else:
            future.set_result(child)

    def _refuse_all(self, make_reason: Callable[[], Exception]) -> None:
        while self._waiting.callers:
            future = self._waiting.next()
            with suppress(RuntimeError):
                future.get_loop().call_soon_threadsafe(_refuse, future, make_reason())


def _refuse(future: asyncio.Future[Child], reason: Exception) -> None:
    if not future.done():
        future.set_exception(reason)


def _make_stop_error() -> RuntimeError:
    return RuntimeError("the server is stopping")


def _make_start_error(refusal: Exception | None) -> Exception:
    if isinstance(refusal, SidecallError):
        return refusal  # Which says why by itself.
    error = RuntimeError(_NO_PROCESS)
    error.__cause__ = refusal
    return error

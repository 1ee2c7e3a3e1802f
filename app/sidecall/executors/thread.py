"""Run tools in threads of our own, so that a slow one never blocks the event loop."""

import asyncio
import contextvars
import itertools
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

from sidecall.core.invocation import Invocation, Release
from sidecall.core.occupancy import Occupancy
from sidecall.core.results.room import SMALL, estimate_size
from sidecall.core.tool import CompiledTool
from sidecall.executors.results import complete, drain, hand_over

# Results that are never large.
_SMALL = frozenset((int, float, bool, type(None)))


@dataclass(slots=True)
class _Outcome:
    value: Any = None
    error: BaseException | None = None

    def take(self) -> Any:
        """Return or raise it, and keep no error, whose traceback holds the job, which holds this."""
        error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        return self.value


@dataclass(eq=False, slots=True)
class _Job:
    """One call, and where its outcome is waited for. All but the outcome changes under the pool's lock only."""

    invocation: Invocation
    context: contextvars.Context
    future: asyncio.Future[_Outcome]
    waits_since: float = 0.0
    is_done: bool = False
    interrupt: Callable[[], object] | None = None
    release: Release | None = None

    def run(self) -> _Outcome:
        # As a value, since a StopIteration set on a future leaves its waiter hanging for ever.
        try:
            return _Outcome(value=self.context.run(self._call))
        except BaseException as error:
            return _Outcome(error=error)

    def _call(self) -> Any:
        invocation = self.invocation
        tool, room = invocation.tool, invocation.surroundings.results
        if room is not None and room.used and tool.name in room.large:
            self._wait_for_room(room.large[tool.name])
        positional, keywords = tool.bind(invocation.values)
        result = tool.function(*positional, **keywords)
        if tool.is_async:
            # Its author wants an async function here because it blocks, so it has to have a loop of its own.
            result = asyncio.run(self._settle(result))
        else:
            result = drain(result, invocation.say_part, invocation.open_share, invocation.look_around)
        if type(result) not in _SMALL and (size := estimate_size(result)) > SMALL:
            share = invocation.open_share()
            if share is not None:
                share.grow_to(size)
        return result

    def _wait_for_room(self, size: int) -> None:
        """Wait once more: others may have made large results since this call was let in."""
        share = self.invocation.open_share()
        if share is not None and not share.size:
            share.wait_here(size, self.invocation.look_around)

    async def _settle(self, result: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        self.interrupt = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)
        return await complete(result, self.invocation.say_part, self.invocation.open_share)


_Inbox = SimpleQueue[_Job | None]


class ThreadExecutor:
    """Runs calls in a bounded pool of threads, which are started on demand.

    A call that outlives its deadline keeps its thread until it ends, so the pool never grows past its size. The threads
    are daemons, unlike those of `concurrent.futures`: a tool that is stuck does not keep the process from ending.
    """

    def __init__(self, threads: int) -> None:
        self._size = threads
        self._lock = threading.Lock()
        self._names = itertools.count()
        self._started = 0
        self._idle: list[_Inbox] = []
        self._waiting: dict[_Job, None] = {}
        self._closed = False

    @property
    def occupancy(self) -> Occupancy:
        """How many threads are taken, and how many calls wait for one."""
        with self._lock:
            busy = self._started - len(self._idle)
            return Occupancy(self._size, busy, len(self._waiting))

    async def start(self, _: Iterable[CompiledTool]) -> None:
        """Start no thread before there is a call for it."""

    def follow(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing: whatever is called comes with its code."""

    async def run(self, invocation: Invocation) -> Any:
        """Call the function in a thread that sees the caller's context variables."""
        job = _Job(invocation, contextvars.copy_context(), asyncio.get_running_loop().create_future())
        self._place(job)
        try:
            outcome = await job.future
        except asyncio.CancelledError:
            self._give_up(job)
            raise
        return await complete(outcome.take(), invocation.say_part, invocation.open_share)

    async def close(self) -> None:
        """Start nothing more; what runs is left to end."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, {}
            for job in waiting:
                job.is_done = True
            for inbox in self._idle:
                inbox.put(None)
            self._started -= len(self._idle)
            self._idle.clear()
        for job in waiting:
            hand_over(job.future, _Outcome(error=RuntimeError("the server is stopping")))

    def _place(self, job: _Job) -> None:
        """Hand a job to a thread that is idle, or to a new one, or let it wait."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the server is stopping")
            if self._idle:
                self._idle.pop().put(job)
                return
            if self._started == self._size:
                job.waits_since = time.monotonic()
                self._waiting[job] = None
                return
            self._started += 1
        self._start_thread(job)

    def _start_thread(self, job: _Job) -> None:
        inbox: _Inbox = SimpleQueue()
        inbox.put(job)
        name = f"sidecall-tool_{next(self._names)}"
        try:
            threading.Thread(target=self._work, args=(inbox,), name=name, daemon=True).start()
        except RuntimeError:  # The system has no more threads to give.
            with self._lock:
                self._started -= 1
            raise

    def _work(self, inbox: _Inbox) -> None:
        job = inbox.get()
        while job is not None:
            job = self._finish(job, job.run(), inbox)
            if job is None:
                job = inbox.get()

    def _finish(self, job: _Job, outcome: _Outcome, inbox: _Inbox) -> _Job | None:
        """Hand the outcome to who waits for this job, and return the next one, if any."""
        with self._lock:
            job.is_done = True
            following = self._next(inbox)
        # After the thread is idle again, so that a caller who comes back at once finds it.
        hand_over(job.future, outcome)
        if job.release is not None:
            with suppress(RuntimeError):  # The loop is closed, and no call waits for a place any more.
                job.future.get_loop().call_soon_threadsafe(job.release)
        return following

    def _next(self, inbox: _Inbox) -> _Job | None:
        following = next(iter(self._waiting), None)
        if following is not None:
            self._wait_no_more(following)
        elif self._closed:
            self._started -= 1
            inbox.put(None)
        else:
            self._idle.append(inbox)
        return following

    def _give_up(self, job: _Job) -> None:
        """Take a job back that has not begun; one that runs is abandoned."""
        with self._lock:
            if job in self._waiting:
                self._wait_no_more(job)
            elif not job.is_done:
                job.release = job.invocation.abandon()
                if job.interrupt is not None:
                    with suppress(RuntimeError):  # Its loop has just ended.
                        job.interrupt()

    def _wait_no_more(self, job: _Job) -> None:
        del self._waiting[job]
        job.invocation.waited += time.monotonic() - job.waits_since

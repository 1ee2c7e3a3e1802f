"""Run tools in our own threads, so that slow ones never block the event loop."""

import asyncio
import contextvars
import itertools
import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from sidecall.kernel.concurrency.fair_queue import CallerKey, Turns, key_of
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.results import COMPLETE, complete, hand_over
from sidecall.kernel.executors.thread_jobs import Returns, ThreadJob, ThreadOutcome

Inbox = SimpleQueue[ThreadJob | None]

# Seconds that a tool takes at most whose calls share a thread.
_QUICK = 0.0005
# Seconds between two looks at what waits for it.
LOOK = 0.001
# Quick calls in threads of their own, after one that held others up, until the tool shares a thread again.
_PROBATION = 100


class Paces:
    """Tracks which tools are quick, by their last calls."""

    def __init__(self) -> None:
        """Begin without any tools."""
        self.quick: set[str] = set()
        self._on_probation: dict[str, int] = {}

    def note(self, name: str, seconds: float) -> None:
        """Record the duration of a call."""
        if seconds >= _QUICK:
            self.quick.discard(name)
        elif name not in self.quick:
            left = self._on_probation.pop(name, 0)
            if left:
                self._on_probation[name] = left - 1
            else:
                self.quick.add(name)

    def distrust(self, name: str) -> None:
        """Record that a call has delayed others."""
        self.quick.discard(name)
        self._on_probation[name] = _PROBATION

    def keep(self, names: Iterable[str]) -> None:
        """Forget all tools except these."""
        known = set(names)
        self.quick &= known
        self._on_probation = {name: left for name, left in self._on_probation.items() if name in known}


class Sharing:
    """The calls that share one thread of the pool, in order; guarded by the pool's lock.

    `inbox` is that thread's, or None if there is none now. All calls belong to one event loop, which supervises them.
    """

    def __init__(self) -> None:
        """Begin without a thread."""
        self.inbox: Inbox | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.current: ThreadJob | None = None
        self.waiting: deque[ThreadJob] = deque()
        self._begun = self._begun_before = 0
        self._added = self._added_before = 0

    def begin(self, inbox: Inbox, job: ThreadJob, loop: asyncio.AbstractEventLoop) -> bool:
        """Begin with a thread and its first call; return whether the loop must supervise it from now on."""
        is_new = loop is not self.loop
        self.inbox, self.loop, self.current = inbox, loop, job
        self._begun += 1
        self._added += 1
        return is_new

    def add(self, job: ThreadJob) -> None:
        """Queue a call for the thread."""
        self.waiting.append(job)
        self._added += 1

    def remove(self, job: ThreadJob) -> None:
        """Remove a waiting call."""
        self.waiting.remove(job)
        self._added -= 1

    def go_on(self) -> ThreadJob | None:
        """Return the next call for the thread; without one the thread is free."""
        if not self.waiting:
            self.inbox = self.current = None
            return None
        self._begun += 1
        self.current = self.waiting.popleft()
        return self.current

    def look(self) -> tuple[list[ThreadJob], ThreadJob | None]:
        """Return the calls that have waited since the last check, and the one that blocks them, if it still runs.

        That one keeps the thread.
        """
        holding = self.current if self._begun == self._begun_before else None
        overdue = len(self.waiting)
        if holding is None:
            overdue = max(0, min(overdue, self._added_before - self._begun))
        taken = [self.waiting.popleft() for _ in range(overdue)]
        self._begun += overdue
        if holding is not None:
            self.inbox = self.current = None
        elif self._begun == self._begun_before and self.inbox is None:
            self.loop = None  # Nothing has come since the last look.
        self._begun_before, self._added_before = self._begun, self._added
        return taken, holding

    def clear(self) -> list[ThreadJob]:
        """Remove and return all waiting calls."""
        taken = list(self.waiting)
        self.waiting.clear()
        self._added -= len(taken)
        return taken


class ThreadExecutor:
    """Runs calls in a bounded pool of threads, which are started on demand.

    Calls of quick tools share one thread; a call that waits there for too long gets another. When all threads are busy,
    callers take turns. A call that outlives its deadline keeps its thread until it ends, so that the pool never exceeds
    its size. The threads are daemons, unlike those of `concurrent.futures`, so that a stuck tool does not keep the
    process alive.
    """

    def __init__(self, threads: int) -> None:
        self._size = threads
        self._lock = threading.Lock()
        self._names = itertools.count()
        self._started = 0
        self._idle: list[Inbox] = []
        self._waiting: Turns[ThreadJob] = Turns()
        self._sharing = Sharing()
        self._paces = Paces()
        self._returns: Returns | None = None
        self._closed = False

    @property
    def occupancy(self) -> Occupancy:
        """How many threads are busy, and how many calls wait for one."""
        with self._lock:
            busy = self._started - len(self._idle)
            return Occupancy(self._size, busy, len(self._waiting) + len(self._sharing.waiting))

    async def start(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing: threads start with their first call."""

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Forget the pace of removed tools; a reloaded tool brings its code."""
        with self._lock:
            self._paces.keep(tool.name for tool in tools)

    async def run(self, invocation: Invocation) -> Any:
        """Call the function in a thread, with the caller's context variables."""
        loop = asyncio.get_running_loop()
        job = ThreadJob(invocation, contextvars.copy_context(), loop.create_future())
        self._place(job, loop)
        try:
            outcome = await job.future
        except asyncio.CancelledError:
            self._give_up(job)
            raise
        result = outcome.take()
        if type(result) in COMPLETE:
            return result
        return await complete(result, invocation.say_part, invocation.open_share)

    async def close(self) -> None:
        """Start no more calls; running ones are left to end."""
        with self._lock:
            self._closed = True
            waiting = [*self._waiting, *self._sharing.clear()]
            self._waiting.clear()
            for job in waiting:
                job.is_done = True
            for inbox in self._idle:
                inbox.put(None)
            self._started -= len(self._idle)
            self._idle.clear()
        for job in waiting:
            hand_over(job.future, ThreadOutcome(error=RuntimeError("the server is stopping")))

    def _place(self, job: ThreadJob, loop: asyncio.AbstractEventLoop) -> None:
        """Give a job to the shared thread, an idle one or a new one, or queue it."""
        sharing, tool = self._sharing, job.invocation.tool
        with self._lock:
            if self._closed:
                raise RuntimeError("the server is stopping")
            may_share = tool.name in self._paces.quick and not self._waiting.callers and not tool.is_async
            if may_share and sharing.inbox is not None and sharing.loop is loop:
                sharing.add(job)
                return
            if may_share and sharing.inbox is None and self._idle:
                self._share(job, loop)
                return
            is_placed = self._place_alone(job)
        if not is_placed:
            self._start_thread(job)

    def _share(self, job: ThreadJob, loop: asyncio.AbstractEventLoop) -> None:
        """Make later quick jobs wait for the thread that takes this one."""
        inbox = self._idle.pop()
        if self._sharing.begin(inbox, job, loop):
            self._returns = Returns(loop)
            # Of no call's context, which would keep what hangs on it.
            loop.call_later(LOOK, self._look, loop, context=contextvars.Context())
        inbox.put(job)

    def _place_alone(self, job: ThreadJob) -> bool:
        """Give a job to an idle thread, or queue it; return False if it needs a new thread."""
        if self._idle:
            self._idle.pop().put(job)
        elif self._started == self._size:
            self._let_wait(job)
        else:
            self._started += 1
            return False
        return True

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Move calls that have waited too long for the shared thread to threads of their own."""
        sharing = self._sharing
        with self._lock:
            if sharing.loop is not loop:
                return
            overdue, holding = sharing.look()
            if holding is not None:
                self._paces.distrust(holding.invocation.tool.name)
            left = [job for job in overdue if not self._place_alone(job)]
            is_over = sharing.loop is None
        if not is_over:
            loop.call_later(LOOK, self._look, loop)
        for job in left:
            self._start_thread(job)

    def _start_thread(self, job: ThreadJob) -> None:
        """Start a thread for a job; where the system gives none, the job waits for one that there is."""
        inbox: Inbox = SimpleQueue()
        inbox.put(job)
        name = f"sidecall-tool_{next(self._names)}"
        try:
            threading.Thread(target=self._work, args=(inbox,), name=name, daemon=True).start()
        except RuntimeError:  # The system has no more threads to give.
            with self._lock:
                self._started -= 1
                if not self._started:
                    raise
                if self._idle:
                    self._idle.pop().put(job)
                else:
                    self._let_wait(job)

    def _work(self, inbox: Inbox) -> None:
        job = inbox.get()
        while job is not None:
            job = self._finish(job, job.run(), inbox)
            if job is None:
                job = inbox.get()

    def _finish(self, job: ThreadJob, outcome: ThreadOutcome, inbox: Inbox) -> ThreadJob | None:
        """Deliver the outcome of a job, and return the next job, if any."""
        with self._lock:
            job.is_done = True
            self._paces.note(job.invocation.tool.name, job.took)
            following = self._next(inbox)
            returns = self._returns
        # After the thread is idle again, so that a caller who comes back at once finds it.
        loop = job.future.get_loop()
        if returns is not None and returns.loop is loop:
            returns.hand_over(job.future, outcome)
        else:
            hand_over(job.future, outcome)
        if job.release is not None:
            with suppress(RuntimeError):  # The loop is closed, and no call waits for a place any more.
                loop.call_soon_threadsafe(job.release)
        return following

    def _next(self, inbox: Inbox) -> ThreadJob | None:
        if self._sharing.inbox is inbox and (shared := self._sharing.go_on()) is not None:
            return shared
        if self._waiting.callers:
            following = self._waiting.next()
            _note_wait(following)
            return following
        if self._closed:
            self._started -= 1
            inbox.put(None)
        else:
            self._idle.append(inbox)
        return None

    def _give_up(self, job: ThreadJob) -> None:
        """Remove a job that has not begun; a running one is abandoned."""
        with self._lock:
            if self._waiting.drop(_turn_of(job), job):
                _note_wait(job)
            elif job in self._sharing.waiting:
                self._sharing.remove(job)
            elif not job.is_done:
                job.release = job.invocation.abandon()
                if job.interrupt is not None:
                    with suppress(RuntimeError):  # Its loop has just ended.
                        job.interrupt()

    def _let_wait(self, job: ThreadJob) -> None:
        job.waits_since = time.monotonic()
        self._waiting.join(_turn_of(job), job)


def _turn_of(job: ThreadJob) -> CallerKey:
    return key_of(job.invocation.request.sender.caller)


def _note_wait(job: ThreadJob) -> None:
    job.invocation.waited += time.monotonic() - job.waits_since

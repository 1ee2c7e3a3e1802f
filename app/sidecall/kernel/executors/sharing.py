"""Let quick tools share a thread: waking one for each call costs more than most of them take."""

import asyncio
from collections import deque
from collections.abc import Iterable
from queue import SimpleQueue

from sidecall.kernel.executors.thread_jobs import ThreadJob

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

"""One call on its way to a worker and back, as the server sees it that holds the call."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from sidecall.features.jobs.errors import OutcomeUnknown
from sidecall.features.processes.child import log
from sidecall.features.processes.executor import make_listener
from sidecall.kernel.core.errors import ToolFailure
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.services import Release

# Seconds between two signs of life of a running call, and how many may be missing. They are counted rather than timed:
# while this process stands still, no worker is late.
BEAT = 0.6
MISSES = 4
# And after how many it is looked whether its worker is on the bus still.
LATE = 2
# Starts after which a call that ended each of its workers is not given out again.
MOST_STARTS = 3
# Events after which a worker is told that there is room for more.
_ROOM = 16

Answer = Mapping[str, Any]
# Sends a message about a call to a worker: of a kind, with its content.
Tell = Callable[[str, str, str, Any], None]


class Poison(ToolFailure):
    """A call has ended each worker that ran it, and is not run again."""

    kind = "poison"


class WorkerGone(OutcomeUnknown):
    """A worker ended while it ran a call that must not run twice."""


@dataclass(slots=True, eq=False)
class RemoteCall:
    """A call that waits for a worker, or runs on one.

    `number` is that of its ticket. Only that ticket can be claimed, and only by one worker; what others say is dropped.
    """

    invocation: Invocation
    number: int = 0
    pool: str | None = None  # Where its ticket lies
    worker: str | None = None
    is_queued: bool = False  # Whether its ticket is in the stream
    is_granted: bool = False  # Whether that worker has been given what the tool needs
    is_heard: bool = False  # Whether that worker has said anything of it
    names: list[str] = field(default_factory=list)  # of the workers that have begun it
    misses: int = 0
    began: float = field(default_factory=time.monotonic)
    context: Context = field(default_factory=copy_context)  # For what is passed on to who reads it
    release: Release | None = None  # Once it is no longer awaited
    events: deque[tuple[str, Mapping[str, Any]]] | None = None  # Said by its tool, and not read yet; made late
    is_reading: bool = False
    # Of all calls here; those that wait are counted, since each new call asks how many.
    all: "RemoteCalls | None" = None
    # What happens next: a claim; then what becomes the answer of the worker, or None once the worker is lost.
    _claimed: asyncio.Future[bool] | None = None
    outcome: asyncio.Future[Answer | None] | None = None

    @property
    def queue(self) -> str:
        """The queue of its tool."""
        return self.invocation.tool.options.queue or ""

    @property
    def is_answered(self) -> bool:
        """Whether the answer of its worker is there, though perhaps not taken yet."""
        return self.outcome is not None and self.outcome.done() and not self.outcome.cancelled()

    def wait_for_claim(self, number: int, pool: str) -> "asyncio.Future[bool]":
        """Begin to wait until a worker claims the ticket of this number."""
        self.number, self.pool = number, pool
        self._claimed = asyncio.get_running_loop().create_future()
        return self._claimed

    def claim(self, worker: str, name: str, number: int) -> bool:
        """Give the call to a worker; return False if its ticket does not count any more."""
        if self.number != number or self._claimed is None or self._claimed.done():
            return False
        self.give_to(worker, name, number)
        self._claimed.set_result(True)
        return True

    def give_to(self, worker: str, name: str, number: int) -> None:
        """Begin an attempt on a worker."""
        self.number, self.pool, self.misses, self.is_granted, self.is_heard = number, None, 0, False, False
        self._move_to(worker)
        self.names.append(name)
        self.invocation.waited += time.monotonic() - self.began
        self.outcome = asyncio.get_running_loop().create_future()

    def is_of(self, worker: str, number: int) -> bool:
        """Return whether a worker speaks of the attempt that counts."""
        return self.worker == worker and self.number == number

    def put_again(self) -> None:
        """Have another ticket made: that of now is not to be found any more."""
        if self._claimed is not None and not self._claimed.done():
            self._claimed.set_result(False)

    def lose(self, *, has_begun: bool = True) -> None:
        """Note that the worker of this attempt will not answer, or has not begun and will not."""
        if not (self.is_granted and has_begun):
            self.names.pop()
        self.settle(None)
        self._move_to(None)
        self.began = time.monotonic()

    def _move_to(self, worker: str | None) -> None:
        if self.all is not None:
            self.all.note_moved(self.queue, (worker is None) - (self.worker is None))
        self.worker = worker
        self.note_queued(is_queued=False)

    def note_queued(self, *, is_queued: bool) -> None:
        """Note whether its ticket is in the stream."""
        if self.all is not None:
            self.all.queued[self.queue] += is_queued - self.is_queued
        self.is_queued = is_queued

    def settle(self, answer: Answer | None) -> None:
        """Note the answer."""
        if self.outcome is not None and not self.outcome.done():
            self.outcome.set_result(answer)

    def add_event(self, kind: str, content: Mapping[str, Any]) -> None:
        """Add what the tool has said, in its order."""
        if self.events is None:
            self.events = deque()
        self.events.append((kind, content))

    async def read_events(self, tell: Tell) -> None:
        """Pass on what the tool says while it runs, at the pace of who reads it; then the answer."""
        listen, worker, taken = make_listener(self.invocation), self.worker or "", 0
        try:
            while self.events:
                kind, content = self.events.popleft()
                if kind == "answer":
                    self.settle(content["answer"])
                    continue
                if content["kind"] == "log":
                    log(*content["said"])
                else:
                    await listen(content["kind"], content["said"])
                taken += 1
                if taken % _ROOM == 0 or not self.events:
                    tell(worker, "more", self.invocation.id, {"n": content["n"], "taken": taken})
                    taken = 0
        finally:
            self.is_reading = False


def refuse_to_repeat(call: RemoteCall) -> None:
    """Look whether a call may run once more, after its worker was lost.

    Raises:
        WorkerGone: It has begun, and must not run twice.
        Poison: It has ended too many workers.
    """
    if not call.names:
        return
    tool, hints = call.invocation.tool.name, call.invocation.tool.options.annotations
    workers = ", ".join(call.names)
    if not (hints.idempotent or hints.read_only):
        raise WorkerGone(
            f"Error: the worker {workers} ended while {tool} ran, so its outcome is unknown; it may have had effects."
        )
    if len(call.names) >= MOST_STARTS:
        raise Poison(
            f"Error: {tool} was started {len(call.names)} times, and each worker ended while it ran ({workers}). "
            "It is not started again."
        )


class RemoteCalls:
    """The calls of this server that wait for a worker or run on one, by their ids."""

    def __init__(self) -> None:
        """Begin without any."""
        # How many of each queue wait for a worker, how many of them in the stream, and how many have a worker.
        self.waiting: Counter[str] = Counter()
        self.queued: Counter[str] = Counter()
        self.running: Counter[str] = Counter()
        self._awaited: dict[str, RemoteCall] = {}
        # Those that are no longer awaited, and whose code still runs.
        self._left: dict[str, RemoteCall] = {}

    def __iter__(self) -> Iterator[RemoteCall]:
        """Iterate over a copy of all."""
        return iter([*self._awaited.values(), *self._left.values()])

    @property
    def awaited(self) -> Iterator[RemoteCall]:
        """Those that are awaited, as a copy."""
        return iter([*self._awaited.values()])

    @property
    def occupancy(self) -> tuple[int, int]:
        """How many run, and how many wait."""
        waiting = self.waiting.total()
        return len(self._awaited) - waiting + len(self._left), waiting

    def find(self, call_id: str) -> RemoteCall | None:
        """Return a call, also one that is no longer awaited."""
        return self._awaited.get(call_id) or self._left.get(call_id)

    def find_awaited(self, call_id: str) -> RemoteCall | None:
        """Return a call that is awaited."""
        return self._awaited.get(call_id)

    def add(self, call: RemoteCall) -> None:
        """Add a call, which waits."""
        self._awaited[call.invocation.id], call.all = call, self
        self.waiting[call.queue] += 1

    def remove(self, call: RemoteCall) -> None:
        """Remove a call that is no longer awaited."""
        self._awaited.pop(call.invocation.id, None)
        call.note_queued(is_queued=False)
        call.all = None
        counts = self.waiting if call.worker is None else self.running
        counts[call.queue] -= 1

    def note_moved(self, queue: str, to_waiting: int) -> None:
        """Note that so many calls wait that had a worker."""
        self.waiting[queue] += to_waiting
        self.running[queue] -= to_waiting

    def moves(self, queue: str) -> bool:
        """Return whether calls of a queue end, or are taken out of the stream, so that another can be given soon."""
        return bool(self.running[queue] or self.queued[queue])

    def leave(self, call: RemoteCall) -> None:
        """Keep a call that is no longer awaited until no code of its tool runs."""
        self._left[call.invocation.id] = call

    def forget(self, call: RemoteCall) -> None:
        """Note that no code of a call runs any more."""
        self._left.pop(call.invocation.id, None)

    def count(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return how many calls of each queue wait, and how many run."""
        return dict(+self.waiting), dict(+self.running)

    def find_oldest(self) -> dict[str, float]:
        """Return for how many seconds the oldest call of each queue waits; 0 where all run."""
        now, oldest = time.monotonic(), dict[str, float]()
        for call in self._awaited.values():
            waits = now - call.began if call.worker is None else 0.0
            oldest[call.queue] = max(oldest.get(call.queue, 0.0), waits)
        return oldest

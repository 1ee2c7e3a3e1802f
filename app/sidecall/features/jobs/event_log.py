"""Event logs of running calls, kept for a while for watchers."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from secrets import randbelow
from typing import Any

from msgspec import Struct
from pydantic_core import to_json

from sidecall.features.jobs.progress import Said
from sidecall.features.jobs.progress_writer import ProgressWriter
from sidecall.kernel.concurrency.backpressure import HeldPart, Pause, Pauses, Reading
from sidecall.kernel.json_data.to_json import to_plain
from sidecall.kernel.ports.call_entry import CallEntry, CallStatus

# Bounds of one call's log; beyond them the tool's oldest events are dropped.
_MOST = 256
_MOST_BYTES = 64 * 1024
# Logs that are kept without writers and readers, and for how many seconds.
_MOST_IDLE = 256
_IDLE = 300.0
# The highest start number of logs that several servers have; all numbers have nine digits at most.
_MOST_FIRST = 900_000_000
# The order of a call's statuses within an attempt; one that is queued again has begun before.
_ORDER: dict[CallStatus, int] = {"running": 0, "awaiting_approval": 1, "queued": 2}
_END = 3
# Higher than all event numbers of one attempt.
_ALL = 2**62

# Writes an event for watchers: kind, JSON and number.
WriteEvent = Callable[[str, bytes, int], bytes]


class LoggedEvent:
    """An event of a call; numbers increase, with gaps where events were dropped."""

    __slots__ = ("_body", "_kind", "_written", "number", "size")

    def __init__(self, number: int, kind: str, body: bytes) -> None:
        self.number = number
        self.size = len(body)
        self._kind = kind
        self._body = body
        self._written = b""

    def write(self, write: WriteEvent) -> bytes:
        """Return it as watchers read it, serialized once for all."""
        if not self._written:
            self._written, self._body = write(self._kind, self._body, self.number), b""
        return self._written


class Watcher:
    """How many events one watcher has not read yet."""

    def __init__(self, said: int, size: int) -> None:
        """Start behind so many events, of so many bytes together."""
        self.reading = Reading(asyncio.get_running_loop())
        self._said = said
        self._size = size

    def has_room(self, said: int, size: int) -> bool:
        """Return whether the log may grow so far without dropping events that this watcher has not read."""
        return said - self._said <= 1 or (said - self._said <= _MOST and size - self._size <= _MOST_BYTES)

    def take(self, said: int, size: int) -> None:
        """Note that it has taken so much."""
        self._said, self._size = said, size
        self.reading.note_taken()
        self.reading.wake()

    def leave(self) -> None:
        """Release all who wait for this watcher."""
        self.reading.is_still = True
        self.reading.wake()


class EventLog:
    """The events of one call; `changed` is set, and replaced, when there are more.

    `heard` is the attempt and number of the tool's last event.
    """

    def __init__(self, last: int = 0) -> None:
        """Begin after this number."""
        self._first = self.last = last
        self.changed = asyncio.Event()
        self.heard = (0, 0)
        self._happenings: dict[int, LoggedEvent] = {}
        self._said: deque[int] = deque()
        self._size = 0
        self.said = self.said_bytes = 0  # All events so far, kept or not.
        self.watchers: tuple[Watcher, ...] = ()  # Also read from other threads.
        self._standing = (-1, -1, 0.0)

    def note(self, entry: CallEntry) -> None:
        """Log the status of a call, unless it is known or outdated."""
        members = {"attempt": entry.attempt, "kind": entry.kind, "approval_id": entry.approval_id}
        waits = entry.status == "awaiting_approval"
        since = entry.decided_at.timestamp() if waits and entry.decided_at is not None else 0.0
        self.note_status(entry.status, entry.attempt, members, since)

    def note_status(self, status: CallStatus, attempt: int, members: Mapping[str, Any], since: float = 0.0) -> None:
        """Log a status of a call in an attempt; it may wait again after a decision."""
        standing = (attempt, _ORDER.get(status, _END), since)
        if standing > self._standing:
            self._standing = standing
            self._add("status", to_json({"status": status, **members}))

    def add_local(self, attempt: int, said: Iterable[Said]) -> None:
        """Append an event of the tool from this process, in this attempt."""
        self._begin(attempt)
        self.heard = max(self.heard, (attempt, _ALL))
        for kind, body in said:
            self.add(kind, body)

    def add_remote(self, attempt: int, first: int, said: Sequence[Said]) -> None:
        """Append events from another server, after the number `first` of this attempt, unless they are known."""
        known = self.heard[1] if self.heard[0] == attempt else _ALL if self.heard[0] > attempt else 0
        new = said[max(0, known - first) :]
        if new:
            self._begin(attempt)
            self.heard = (attempt, first + len(said))
            for kind, body in new:
                self.add(kind, body)

    def _begin(self, attempt: int) -> None:
        self.note_status("running", attempt, {"attempt": attempt, "kind": None, "approval_id": None})

    def add(self, kind: str, body: bytes) -> None:
        """Append the tool's events, and drop its oldest beyond the bounds."""
        self._add(kind, body)
        self._said.append(self.last)
        self._size += len(body)
        self.said += 1
        self.said_bytes += len(body)
        while self._size > _MOST_BYTES or len(self._said) > _MOST:
            self._size -= self._happenings.pop(self._said.popleft()).size

    def _add(self, kind: str, body: bytes) -> None:
        self.last += 1
        self._happenings[self.last] = LoggedEvent(self.last, kind, body)
        self.changed.set()
        self.changed = asyncio.Event()

    @contextmanager
    def watched(self) -> Iterator[Watcher]:
        """Count one more watcher, for which generators wait as long as it reads."""
        watcher = Watcher(self.said - len(self._said), self.said_bytes - self._size)
        self.watchers = (*self.watchers, watcher)
        try:
            yield watcher
        finally:
            self.watchers = tuple(it for it in self.watchers if it is not watcher)
            watcher.leave()

    def has_given(self, number: int) -> bool:
        """Return whether this is a number of this log, or its start."""
        return self._first <= number <= self.last

    def list_after(self, number: int) -> list[LoggedEvent]:
        """List the kept events after this number."""
        return [] if number >= self.last else [it for it in self._happenings.values() if it.number > number]


class EventLogs:
    """The event logs of calls that run here or are watched, and of some recent ones.

    Where several servers share calls (`is_shared`), each log begins at a number of its own, so that event ids of other
    servers are never taken for its own; `progress` stores events for them.
    """

    def __init__(self, *, is_shared: bool = False, progress: ProgressWriter | None = None) -> None:
        self._is_shared = is_shared
        self.progress = progress
        # One lock for all publishers, held briefly: most calls publish nothing, and one for each would cost more.
        self.lock = threading.Lock()
        self._held: dict[str, tuple[EventLog, int]] = {}
        self._idle: dict[str, tuple[EventLog, float]] = {}

    def __len__(self) -> int:
        return len(self._held) + len(self._idle)

    def hold(self, call_id: str, last: int = 0) -> EventLog:
        """Return the event log of a call, or begin one; it is kept until each hold is released.

        Args:
            call_id: The call.
            last: The number of the reader's last event, after which a new log begins.
        """
        self._forget()
        held = self._held.get(call_id)
        idle = self._idle.pop(call_id, None)
        event_log = held[0] if held else idle[0] if idle else EventLog(self._choose_first() or last)
        self._held[call_id] = (event_log, held[1] + 1 if held else 1)
        return event_log

    def find(self, call_id: str) -> EventLog | None:
        """Return the event log of a call that is held."""
        held = self._held.get(call_id)
        return None if held is None else held[0]

    def _choose_first(self) -> int:
        return randbelow(_MOST_FIRST) if self._is_shared else 0

    def find_watchers(self, call_id: str) -> "tuple[EventLog | None, tuple[Watcher, ...]]":
        """Return a call's event log, if it is held, and its watchers; from any thread."""
        held = self._held.get(call_id)
        return (None, ()) if held is None else (held[0], held[0].watchers)

    def release(self, call_id: str) -> None:
        """Release a hold; the log is kept a while longer."""
        event_log, count = self._held.pop(call_id)
        if count > 1:
            self._held[call_id] = (event_log, count - 1)
        else:
            self._idle[call_id] = (event_log, time.monotonic())
            self._forget()

    @contextmanager
    def watch(self, call_id: str, last: int) -> Iterator[EventLog]:
        """Keep an event log while it is read."""
        event_log = self.hold(call_id, last)
        try:
            yield event_log
        finally:
            self.release(call_id)

    def _forget(self) -> None:
        oldest = time.monotonic() - _IDLE
        while self._idle:
            call_id, (_, since) = next(iter(self._idle.items()))
            if since >= oldest and len(self._idle) <= _MOST_IDLE:
                return
            del self._idle[call_id]


class EventPublisher(Struct, eq=False):
    """Log the events of one attempt's tool, from any thread; a silent tool costs nothing."""

    _event_logs: EventLogs
    _call_id: str
    _attempt: int
    _loop: asyncio.AbstractEventLoop
    _event_log: EventLog | None = None
    _coming: deque[tuple[str, bytes]] | None = None
    _size: int = 0
    _is_awake: bool = False
    _is_closed: bool = False

    def tell(self, kind: str, call_id: str, said: Mapping[str, Any]) -> Pause | None:
        """Log an event, from any thread; when they come too fast, the oldest are dropped.

        A partial result is held back while a watcher would miss something. An event larger than the whole log is
        replaced by a note.
        """
        with suppress(ValueError):  # What JSON cannot say.
            body = _write_event(call_id, said)
            held = self._hold(body or b"") if kind == "partial" else []
            if body is None:
                kind, body = "missed", to_json({"tool_call_id": call_id, "count": 1})
            if held:
                return _HeldEvent(held, partial(self._append, kind, body))
            self._append(kind, body)
        return None

    def _hold(self, body: bytes) -> list[Pause]:
        """Return what to wait for before this event: watchers who have not read the ones before."""
        event_log, watchers = self._event_logs.find_watchers(self._call_id)
        if event_log is None:
            return []

        def has_room(watcher: Watcher) -> bool:
            with self._event_logs.lock:
                count, size = len(self._coming or ()), self._size
            return watcher.has_room(event_log.said + count + 1, event_log.said_bytes + size + len(body))

        late = [it for it in watchers if not it.reading.is_still and not has_room(it)]
        return [HeldPart(it.reading, partial(has_room, it), _drop_nothing) for it in late]

    def _append(self, kind: str, body: bytes) -> None:
        if self._queue(kind, body):
            with suppress(RuntimeError):  # The loop has ended.
                self._loop.call_soon_threadsafe(self._write)

    def _queue(self, kind: str, body: bytes) -> bool:
        """Let something wait for the loop; return whether that has to be woken."""
        with self._event_logs.lock:
            coming = self._coming = self._coming or deque()
            coming.append((kind, body))
            self._size += len(body)
            while len(coming) > _MOST or self._size > _MOST_BYTES:
                self._size -= len(coming.popleft()[1])
            is_first, self._is_awake = not self._is_awake, True
        return is_first

    async def settle(self) -> None:
        """Wait until all events are stored for watchers at other servers, before the call ends."""
        if self._is_awake:
            await asyncio.sleep(0)
        if self._event_logs.progress is not None:
            await self._event_logs.progress.settle(self._call_id)

    def close(self) -> None:
        """Log nothing more."""
        self._is_closed = True
        if self._event_logs.progress is not None:
            self._event_logs.progress.leave(self._call_id)
        if self._event_log is not None:
            self._event_logs.release(self._call_id)

    def _write(self) -> None:
        with self._event_logs.lock:
            coming, self._coming = self._coming or (), None
            self._size, self._is_awake = 0, False
        if self._is_closed:
            return
        if self._event_log is None:
            self._event_log = self._event_logs.hold(self._call_id)
        self._event_log.add_local(self._attempt, coming)
        if self._event_logs.progress is not None:
            self._event_logs.progress.add(self._call_id, self._attempt, coming)


def _write_event(call_id: str, said: Mapping[str, Any]) -> bytes | None:
    """Write what a tool says as JSON; None where it is too large to be kept."""
    if sum(len(text) for text in said.values() if type(text) is str) > _MOST_BYTES:
        return None  # Before it is written, which takes its time.
    body = to_json(to_plain({"tool_call_id": call_id, **said}))
    return body if len(body) <= _MOST_BYTES else None


class _HeldEvent(Pauses):
    """An event that waits until watchers have read the ones before it."""

    def __init__(self, pauses: list[Pause], say: Callable[[], None]) -> None:
        super().__init__(pauses)
        self._append = say

    async def wait(self) -> None:
        await super().wait()
        self._append()

    def wait_here(self, look: Callable[[], object]) -> None:
        super().wait_here(look)
        self._append()

    def skip(self) -> None:
        self._append()


def _drop_nothing() -> None:
    """Do nothing: the event is logged at once, and the oldest is dropped."""

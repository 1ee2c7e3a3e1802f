"""Store progress events, for watchers at other servers."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from sidecall.features.jobs.progress import ProgressBatch, ProgressLog, Said
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.notifications import Notifications

# Bounds of one call: pending and stored events.
_MOST = 1024
_MOST_BYTES = 256 * 1024
# Seconds between two rounds of writing, and while the store is unavailable.
_PAUSE = 0.02
_LONG_PAUSE = 0.2
# Bytes that are written at once, at least; much more would delay other writes.
_MUCH = 4 * 1024 * 1024


class _Pending:
    """Events of one attempt: those to be written, and the sizes of written ones.

    An event that is lost keeps its number.
    """

    def __init__(self, attempt: int) -> None:
        self.attempt = attempt
        self.waiting: deque[Said] = deque()
        self.size = 0
        self.last = 0
        self.turn = asyncio.Lock()
        self._kept: deque[tuple[int, int, int]] = deque()
        self._kept_count = self._kept_size = 0

    def add(self, said: Iterable[Said]) -> None:
        """Add an event; beyond the bounds the oldest is dropped."""
        for each in said:
            self.waiting.append(each)
            self.size += len(each[1])
            self._bound()

    def put_back(self, part: ProgressBatch) -> None:
        """Put back events whose write failed."""
        self.last -= len(part.said)
        self.waiting.extendleft(reversed(part.said))
        self.size += sum(len(body) for _, body in part.said)
        _, count, size = self._kept.pop()
        self._kept_count -= count
        self._kept_size -= size
        self._bound()

    def _bound(self) -> None:
        while len(self.waiting) > _MOST or self.size > _MOST_BYTES:
            self.size -= len(self.waiting.popleft()[1])
            self.last += 1

    def take(self) -> tuple[ProgressBatch, int]:
        """Take all events to be written, with the number up to which older ones are to be deleted."""
        said, size = list(self.waiting), self.size
        self.waiting.clear()
        self.size = 0
        self.last += len(said)
        forgotten = 0
        while self._kept and (self._kept_count + len(said) > _MOST or self._kept_size + size > _MOST_BYTES):
            forgotten, count, bytes_ = self._kept.popleft()
            self._kept_count -= count
            self._kept_size -= bytes_
        self._kept.append((self.last, len(said), size))
        self._kept_count += len(said)
        self._kept_size += size
        return ProgressBatch(self.attempt, self.last, said), forgotten


class ProgressWriter:
    """Store progress events of this server in portions, and notify other servers."""

    def __init__(self, log: ProgressLog, notifications: Notifications) -> None:
        self._log = log
        self._notifications = notifications
        self._calls: dict[str, _Pending] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, call_id: str, attempt: int, said: Iterable[Said]) -> None:
        """Queue an event of an attempt for writing."""
        pending = self._calls.get(call_id)
        if pending is None:
            pending = self._calls[call_id] = _Pending(attempt)
        pending.add(said)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._write_rounds())

    async def settle(self, call_id: str) -> None:
        """Write the events of a call before its end is written."""
        if (pending := self._calls.get(call_id)) is not None:
            await self._write(call_id, pending)

    def leave(self, call_id: str) -> None:
        """Forget a call that has stopped running here."""
        self._calls.pop(call_id, None)

    async def _write_rounds(self) -> None:
        try:
            while waiting := [(call_id, pending) for call_id, pending in self._calls.items() if pending.waiting]:
                are_written = True
                for some in _divide(waiting):
                    are_written &= all(await asyncio.gather(*(self._write(*each) for each in some)))
                await asyncio.sleep(_PAUSE if are_written else _LONG_PAUSE)
        finally:
            self._task = None

    async def _write(self, call_id: str, pending: _Pending) -> bool:
        """Write the pending events of a call; False while the store is unavailable, in which case they stay."""
        async with pending.turn:
            if not pending.waiting:
                return True
            part, forgotten = pending.take()
            try:
                await self._log.add(call_id, part, forgotten)
            except StoreUnavailable:
                pending.put_back(part)
                return False
            self._notifications.tell("progress", call_id)
            return True


def _divide(waiting: Sequence[tuple[str, _Pending]]) -> Iterator[list[tuple[str, _Pending]]]:
    """Divide pending events into batches."""
    some, size = list[tuple[str, _Pending]](), 0
    for each in waiting:
        some.append(each)
        size += each[1].size
        if size >= _MUCH:
            yield some
            some, size = [], 0
    if some:
        yield some

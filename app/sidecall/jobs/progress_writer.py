"""Write down what tools say, for those who watch their calls at other servers."""

import asyncio
from collections import deque
from collections.abc import Iterable
from contextlib import suppress

from sidecall.core.calls.notices import Notices
from sidecall.core.calls.progress import ProgressLog, Said, SaidPart
from sidecall.core.overload import StoreUnavailable

# Of one call: what waits to be written, and what is kept of that.
_MOST = 1024
_MOST_BYTES = 256 * 1024
# Seconds between two rounds of writing.
_PAUSE = 0.02


class _Pending:
    """What the tool of one attempt has said: that waits to be written, and the sizes of what is."""

    def __init__(self, attempt: int) -> None:
        self.attempt = attempt
        self.waiting: deque[Said] = deque()
        self.size = 0
        self.last = 0
        self.turn = asyncio.Lock()
        self._kept: deque[tuple[int, int, int]] = deque()
        self._kept_count = self._kept_size = 0

    def add(self, said: Iterable[Said]) -> None:
        """Let more wait; beyond the bounds the oldest is lost."""
        for each in said:
            self.waiting.append(each)
            self.size += len(each[1])
            while len(self.waiting) > _MOST or self.size > _MOST_BYTES:
                self.size -= len(self.waiting.popleft()[1])

    def take(self) -> tuple[SaidPart, int]:
        """Take all that waits, and return with it up to which number the rest is to be forgotten."""
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
        return SaidPart(self.attempt, self.last, said), forgotten


class ProgressWriter:
    """Write down what tools say here, some of it at a time, and tell the other servers that there is more."""

    def __init__(self, log: ProgressLog, notices: Notices) -> None:
        self._log = log
        self._notices = notices
        self._calls: dict[str, _Pending] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, call_id: str, attempt: int, said: Iterable[Said]) -> None:
        """Write soon what the tool of an attempt has said."""
        pending = self._calls.get(call_id)
        if pending is None:
            pending = self._calls[call_id] = _Pending(attempt)
        pending.add(said)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._write_rounds())

    async def settle(self, call_id: str) -> None:
        """Write what a call has said before its end is."""
        if (pending := self._calls.get(call_id)) is not None:
            await self._write(call_id, pending)

    def leave(self, call_id: str) -> None:
        """Forget a call that runs here no more."""
        self._calls.pop(call_id, None)

    async def _write_rounds(self) -> None:
        try:
            while waiting := [(call_id, pending) for call_id, pending in self._calls.items() if pending.waiting]:
                await asyncio.gather(*(self._write(*each) for each in waiting))
                await asyncio.sleep(_PAUSE)
        finally:
            self._task = None

    async def _write(self, call_id: str, pending: _Pending) -> None:
        async with pending.turn:
            if not pending.waiting:
                return
            part, forgotten = pending.take()
            with suppress(StoreUnavailable):  # It is no more than what a tool says on its way.
                await self._log.add(call_id, part, forgotten)
                self._notices.tell("progress", call_id)

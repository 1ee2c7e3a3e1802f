"""What is to be written to a SQLite file: collected on the event loop, and carried out elsewhere."""

import asyncio
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any, Protocol

from sidecall.kernel.concurrency.coroutines import read_error
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.core.overload import StoreUnavailable, StoreUnfit
from sidecall.storage.group_commit import Gathering
from sidecall.storage.outage import GrowingPauses, OutageLog
from sidecall.storage.sqlite.file import StoreChanged
from sidecall.storage.sqlite.opened_file import ReadSource
from sidecall.storage.sqlite.tables import LEDGER, DatabaseRole
from sidecall.storage.sqlite.writer_connection import (
    Alive,
    Ended,
    Hear,
    Kind,
    Order,
    Outcomes,
    Unavailable,
    Usable,
    measure,
)

# So many are waited for, or as many as are being written just now, or a quarter of the most that waited at once lately.
# A commit costs more than the rows of so many. Where all were waited for, this process and the writer would take turns,
# and each would wait for the other.
_ENOUGH = 16
_SHARE = 4
_FORGETS = 8
# Bytes from which on values are not copied on their way.
LARGE = 256 * 1024
# The bytes of an operation, without its texts and bytes values.
_BESIDE = 512
# Seconds until a file that could not be used is tried again, at most where that takes opening it, and at most where it
# fails again each time that it was used again.
_PAUSE = 0.5
_LONG_PAUSE = 5.0
_LONGEST_PAUSE = 30.0
# The generation of a file that was not opened yet.
NOT_OPEN = -1
_SECONDS_TO_CLOSE = 2.0
# Seconds without a word from the backend, while something waits for it, after which it counts as stuck, or for another
# in the place of one that has ended; and bytes a second with which a slow disk is reckoned, where much waits.
HANGS_AFTER = 5.0
# Seconds without an answer after which calls stop waiting, while the writer gives signs of life: a disk may be slow.
SLOW_AFTER = 30.0
_SLOWLY = 4 * 1024 * 1024
# Seconds between two looks. Looks are counted rather than seconds, so that the time for which this process was stopped
# itself does not count.
_LOOK = 0.5
_NONE: Sequence[Order] = ()
# The waiters of an order, and its size.
_Waiting = tuple[asyncio.Future[Any], int]


class WriterBackend(Protocol):
    """The writer's backend: executes orders in sequence and reports their results."""

    def open(self) -> Usable:
        """Open the file, and wait until it is open.

        Raises:
            StoreUnfit: It cannot be used.
        """

    async def start(self, hear: Hear) -> None:
        """Begin to write; what becomes of it is heard on this event loop."""

    def send(self, group: Sequence[Order], *, is_large: bool) -> None:
        """Let a group be written, together with others if they wait, too; `is_large` where some value may be."""

    def try_again(self, is_damaged: bool) -> None:
        """Let it be tried, after trouble, whether the file can be used; all of it where it is damaged."""

    def finish(self) -> None:
        """Write what was sent, and let go of the file."""

    def give_up(self) -> None:
        """Kill it because it does not answer; if that is impossible, it may recover later."""

    def forget(self) -> None:
        """Wait a while until it is gone."""


class Writer:
    """Carry out statements in the order in which they come, many in one transaction.

    While the file cannot be used all are refused at once; it is tried again until it can. So are those that wait for a
    backend which gives no sign of life for a while, and is ended, or no answer for long, since the disk is slow. Where
    a backend has ended by itself, what it has not read waits a while for the next one, as does what comes meanwhile.
    """

    def __init__(
        self,
        backend: WriterBackend,
        name: str,
        most_waiting: int,
        purpose: DatabaseRole = LEDGER,
        hangs_after: float = HANGS_AFTER,
        on_change: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Write to a file or database by a backend.

        Args:
            backend: What writes.
            name: Of the file.
            most_waiting: Most bytes that wait.
            purpose: What the file is for.
            hangs_after: Seconds without a sign of life, or endless.
            on_change: Called once, with what has happened, where the file is not the one any more that was opened.
        """
        self._backend = backend
        self._name = name
        self._log = OutageLog(purpose.name, "written", purpose.loss, name)
        self._most_waiting = most_waiting
        self._size = 0
        self._orders: list[Order] = []  # Not sent yet.
        self._sent: Sequence[Order] = _NONE  # The last of those that were.
        self._is_large = False  # Whether one of the orders is.
        self._gathering = Gathering(lambda: len(self._orders), self._send, sys.maxsize)
        self._waiting: deque[_Waiting] = deque()
        self._most = 0  # Of those, lately.
        self._is_closing = False
        self._is_lost = False
        self._is_over = False
        self._is_damaged = False
        self._on_change = on_change
        self._is_tried = False  # Just now; to look through a large file takes long.
        self._pauses = GrowingPauses(_PAUSE, _LONGEST_PAUSE, lambda: self._loop.time())
        self._retrying: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[Usable] | None = None  # By the next backend.
        self._until_next: asyncio.TimerHandle | None = None  # As long as the next backend is waited for.
        self._hangs_after = hangs_after
        self._looks = 0  # Since something was heard.
        self._looks_unanswered = 0
        self._watch: asyncio.TimerHandle | None = None
        self._apart = Context()  # What goes wrong belongs to no request, though one finds it out.
        self.trouble: str | None = "It is not open."
        self.unavailable_since: float | None = None  # In seconds since 1970.
        # Of the file: the connections of an earlier generation lead to what is gone.
        self.source: ReadSource = 0, None

    def open(self) -> None:
        """Open the file.

        Raises:
            StoreUnfit: It cannot be used.
        """
        self.source = 0, self._backend.open().identity

    async def start(self) -> None:
        """Begin to write, with results on this event loop."""
        self._begin()
        await self._backend.start(self._hear)

    def start_late(self, trouble: str) -> None:
        """Begin to write as soon as the file can be opened, which has failed for this reason."""
        self._begin()
        self._is_lost = True
        self.source = NOT_OPEN, None
        self._apart.run(self._suffer, trouble)

    def _begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._is_closing = self._is_lost = False
        self.trouble = None

    async def close(self) -> None:
        """Write the queue, for a few seconds, and close the file."""
        if self._is_closing:
            return
        self._is_closing = True
        await self._stop_retrying()
        if self.trouble is not None:
            self._keep_only(_NONE)
        if not self._is_lost:
            self._send()
            self._backend.finish()
            await asyncio.wait([self._ended], timeout=_SECONDS_TO_CLOSE)
            if not self._ended.done():
                self._backend.give_up()  # It would keep the file from the next server.
        if self._watch is not None:
            self._watch.cancel()
        await SERVER.run(self._backend.forget)

    async def _stop_retrying(self) -> None:
        if self._retrying is not None:
            self._retrying.cancel()
            await asyncio.wait([self._retrying])
        if self._opening is not None:  # What is being started would keep the file.
            await asyncio.wait([self._opening], timeout=_SECONDS_TO_CLOSE)

    def ask(self, statement: str, values: Any, kind: Kind, size: int | None = None) -> asyncio.Future[Any]:
        """Queue a statement for the next group commit; the awaited result raises what went wrong."""
        if (self.trouble is not None and self._until_next is None) or self._is_closing:
            return _fail(StoreUnavailable())
        try:
            if size is None:
                size = sum(map(measure, values)) if kind == "many" else measure(values)
        except TypeError as error:
            return _fail(error)
        size += _BESIDE
        taken = self._size + size
        if taken > self._most_waiting and self._size:
            return _fail(StoreUnavailable("More waits to be written than this server can keep."))
        self._size = taken
        if size > LARGE:
            self._is_large = True
        future = self._loop.create_future()
        orders, waiting = self._orders, self._waiting
        orders.append((statement, values, kind))
        waiting.append((future, size))
        count = len(orders)
        if count == 1:
            self._gathering.begin()
        elif count >= _ENOUGH and count >= len(waiting) - count and count * _SHARE >= self._most:
            self._send()
        return future

    def doubt(self, trouble: str, *, is_damaged: bool) -> None:
        """Take the file out of use until it has been tried again; all of it if a reader found damage."""
        if self._is_closing or self._is_damaged or self._is_over:
            return
        self._is_damaged = is_damaged
        self._apart.run(self._suffer, f"{self._name}: {trouble}")

    def _send(self) -> None:
        """Send what was asked for, unless no backend would write it."""
        if self.trouble is not None:
            return
        orders, self._orders = self._orders, []
        self._most = max(len(self._waiting), self._most - self._most // _FORGETS)
        if orders:
            self._sent = orders
            self._backend.send(orders, is_large=self._is_large)
            self._is_large = False
            if self._watch is None and self._hangs_after < math.inf:
                self._looks = self._looks_unanswered = 0
                self._watch = self._loop.call_later(_LOOK, self._look, context=self._apart)

    def _look(self) -> None:
        """Look whether the writer process is stuck, as long as something waits for it."""
        self._looks += 1
        self._looks_unanswered += 1
        self._watch = None
        if not self._waiting or self.trouble is not None:
            return
        reckoned = self._size / _SLOWLY
        if self._looks * _LOOK > self._hangs_after + reckoned:
            self._suffer(f"{self._name}: what writes it does not answer; it was stopped, or the disk is stuck.")
            self._backend.give_up()
        elif self._looks_unanswered * _LOOK > SLOW_AFTER + reckoned:
            self._is_tried = True  # It says by itself when it is done.
            self._suffer(f"{self._name}: what writes it has waited for the disk for {SLOW_AFTER:g} s, and goes on.")
        else:
            self._watch = self._loop.call_later(_LOOK, self._look, context=self._apart)

    def _hear(self, outcomes: Outcomes | Ended) -> None:
        self._looks = 0
        if isinstance(outcomes, Alive):
            return
        self._looks_unanswered, self._is_tried = 0, False
        if isinstance(outcomes, Ended):
            self._miss_hand(outcomes.is_unread)
        elif isinstance(outcomes, Unavailable):
            (self._end if outcomes.is_final else self._suffer)(outcomes.text)
        elif isinstance(outcomes, Usable):
            if self.trouble is not None:
                self._recover(outcomes)
        elif self.trouble is None:  # Otherwise it is too late: the waiter is gone.
            self._pauses.is_used = True
            self._settle(outcomes)
            if not self._waiting:
                self._sent = _NONE

    def _miss_hand(self, is_unread: bool) -> None:
        """Note that nothing more will come."""
        if self._is_closing:
            if not self._ended.done():
                self._ended.set_result(None)
            return
        self._is_lost = True
        if self.trouble is None:
            kept = [*(self._sent if is_unread else _NONE), *self._orders]
            self._is_large = self._is_large or is_unread
            self._suffer(f"{self._name}: the process that writes it has ended; another takes its place.", kept)
            self._until_next = self._loop.call_later(self._hangs_after, self._keep_only, _NONE, context=self._apart)

    def _end(self, trouble: str) -> None:
        """Use the file no more, neither to write nor to read: it is not the one that was opened."""
        if not self._is_over:
            self._is_over = True
            self.source = NOT_OPEN, None
            self._suffer(trouble)
            self._on_change(trouble)

    def _suffer(self, trouble: str, kept: Sequence[Order] = ()) -> None:
        is_new = self.trouble is None
        self._set_trouble(trouble)
        self._keep_only(kept)
        if is_new:
            self.unavailable_since = time.time()
            if self._retrying is not None:  # It may not have noticed that the outage before has ended.
                self._retrying.cancel()
            if not self._is_over:
                self._retrying = self._loop.create_task(self._retry(), context=self._apart)

    def _keep_only(self, kept: Sequence[Order]) -> None:
        """Refuse what waits, but for these orders, which came last; no more may wait for another backend."""
        self._stop_waiting()
        self._orders, self._sent = list(kept), _NONE
        self._settle([StoreUnavailable() for _ in range(len(self._waiting) - len(kept))])

    def _stop_waiting(self) -> None:
        if self._until_next is not None:
            self._until_next.cancel()
            self._until_next = None

    def _set_trouble(self, trouble: str) -> None:
        self.trouble = trouble
        self._log.tell(trouble)

    def _recover(self, usable: Usable) -> None:
        self.trouble = self.unavailable_since = None
        self._is_damaged = False
        self.source = self.source[0] + 1, usable.identity
        self._pauses.end()
        self._log.run_on_end()
        self._stop_waiting()
        self._send()

    async def _retry(self) -> None:
        """Retry until the file can be used."""
        await asyncio.sleep(self._pauses.begin())
        pause = _PAUSE
        while self.trouble is not None and not self._is_over:
            if not self._is_lost:
                self._ask_again()
            elif not await self._replace():
                pause = min(2 * pause, _LONG_PAUSE)
            await asyncio.sleep(pause)

    async def _replace(self) -> bool:
        """Let another backend open the file; return False where it cannot be opened."""
        self._opening = self._loop.create_task(self._open_again())
        self._opening.add_done_callback(self._note_opened)
        try:
            usable = await asyncio.shield(self._opening)
        except StoreChanged as error:
            self._end(error.message)
        except StoreUnfit as error:
            self._set_trouble(error.message)
            return False
        except OSError as error:
            self._set_trouble(f"{self._name}: no process can be started that writes it ({error}).")
        else:
            if not self._is_damaged:
                self._recover(usable)
        return True

    async def _open_again(self) -> Usable:
        usable = await SERVER.run(self._backend.open)
        self._is_lost = False
        await self._backend.start(self._hear)
        return usable

    def _note_opened(self, opening: asyncio.Task[Usable]) -> None:
        read_error(opening)
        self._opening = None

    def _ask_again(self) -> None:
        """Have the writer process try the file, and end it where it gives no sign of life."""
        self._looks += 1
        if not self._is_tried:
            self._is_tried, self._looks = True, 0
            self._backend.try_again(self._is_damaged)
        elif self._looks * _LOOK > self._hangs_after:
            self._backend.give_up()

    def _settle(self, outcomes: Sequence[Any]) -> None:
        take = self._waiting.popleft
        for outcome in outcomes:
            future, size = take()
            self._size -= size
            if future.done():  # The caller has gone.
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


def _fail(error: Exception) -> asyncio.Future[Any]:
    future = asyncio.get_running_loop().create_future()
    future.set_exception(error)
    return future

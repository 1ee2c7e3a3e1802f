"""Handle notifications of other servers of a ledger."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from sidecall.features.jobs.event_log import EventLog, EventLogs, LoggedEvent
from sidecall.features.jobs.progress import ProgressLog
from sidecall.features.jobs.recovery import JobReconciler
from sidecall.features.jobs.runner import Runner
from sidecall.features.jobs.waiters import CompletionWaiters, News
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.heartbeat import Heartbeat
from sidecall.storage.notifications import NotificationKind

# Bytes that are added to an event log at once: watchers read them before more come.
_AT_ONCE = 64
# Turns of the event loop in which events are collected.
_TURNS = 5


class ProgressReader:
    """Copy progress events of other servers into the event logs here, for watchers."""

    def __init__(self, log: ProgressLog | None, event_logs: EventLogs, runs: Callable[[str], bool]) -> None:
        """Take the log; events of calls that this server `runs` are not read."""
        self._log = log
        self._event_logs = event_logs
        self._runs = runs
        self._looking: dict[str, bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def look(self, call_id: str) -> None:
        """Read new events of a call, if it is watched here."""
        event_log = self._event_logs.find(call_id)
        if self._log is None or event_log is None:
            return
        is_looking = call_id in self._looking
        self._looking[call_id] = True
        if not is_looking:
            task = asyncio.get_running_loop().create_task(self._follow(call_id, event_log))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _follow(self, call_id: str, event_log: EventLog) -> None:
        try:
            while self._looking[call_id]:
                self._looking[call_id] = False
                async for _ in self.read(call_id, event_log):
                    for _ in range(_TURNS):
                        await asyncio.sleep(0)
        finally:
            del self._looking[call_id]

    async def read(self, call_id: str, event_log: EventLog) -> AsyncGenerator[None]:
        """Read new events into an event log, and pause whenever there are as many as its watchers can take at once."""
        if self._log is None or self._runs(call_id):
            return
        try:
            parts = await self._log.list_after(call_id, *event_log.heard)
        except StoreUnavailable:
            return
        for part in parts:
            first = part.last - len(part.said)
            for begin in range(0, len(part.said), _AT_ONCE):
                said = part.said[begin : begin + _AT_ONCE]
                event_log.add_remote(part.attempt, first + begin, said)
                yield


logger = logging.getLogger("sidecall")


class NotificationHandler:
    """Look for changes after a notification; the notification alone causes nothing."""

    def __init__(
        self,
        heartbeat: Heartbeat,
        runner: Runner,
        reconciler: JobReconciler,
        waiters: CompletionWaiters,
        progress: ProgressReader,
    ) -> None:
        self._servers = CoalescedTask(heartbeat.count_others)
        self._runner = runner
        self._reconciler = reconciler
        self._waiters = waiters
        self._progress = progress
        self._cancels = CoalescedTask(reconciler.cancel_unwanted)

    def hear(self, kind: NotificationKind, call_id: str) -> None:
        """Look at a call, or without an id at all queued ones."""
        if kind == "queued":
            self._reconciler.note_queued()
        elif kind == "changed":
            self._waiters.deliver(call_id)
        elif kind == "progress":
            self._progress.look(call_id)
        elif call_id in self._runner:
            self._cancels.begin()
        else:
            self._reconciler.note_cancel()

    def miss(self) -> None:
        """Look at everything once; a server may have just started."""
        self._servers.begin()
        self._reconciler.note_queued()
        self._waiters.wake_all()
        self._cancels.begin()


class CoalescedTask:
    """Run a look-up when requested, one at a time; requests during a look-up cause one more."""

    def __init__(self, look: Callable[[], Awaitable[None]]) -> None:
        self._look = look
        self._task: asyncio.Task[None] | None = None
        self._is_wanted = False

    def begin(self) -> None:
        """Run as soon as possible."""
        self._is_wanted = True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._go())

    async def _go(self) -> None:
        try:
            while self._is_wanted:
                self._is_wanted = False
                await self._look()
        except StoreUnavailable:
            pass  # A periodic look-up finds it later.
        except Exception:
            logger.exception("what another server has said could not be looked at; it is looked for within a second")
        finally:
            self._task = None


# Seconds after which the ledger is read again: another server may run the call.
_LOOK = 1.0

# Events, in batches, and at last the ended call; None where nothing happened for a while.
Sights = AsyncGenerator[Sequence[LoggedEvent] | CallEntry | None]


async def watch_call(
    call_id: str,
    after: int,
    event_logs: EventLogs,
    waiters: CompletionWaiters,
    look: Callable[[], Awaitable[CallEntry]],
    progress: ProgressReader,
) -> Sights:
    """Follow a call.

    Args:
        call_id: The call.
        after: The number of the reader's last event; 0 for a new reader.
        event_logs: The event logs of calls that run here.
        waiters: Delivers the ends of calls that run here.
        look: Reads the call's state from the ledger.
        progress: Reads events from other servers.

    Raises:
        UnknownCall: It was refused before it began, and was deleted.
        StoreUnavailable: The ledger is unavailable.
    """
    with event_logs.watch(call_id, after) as event_log, event_log.watched() as watcher:
        if not event_log.has_given(after):  # It was logged elsewhere, or too long ago.
            after = 0
        while True:
            with waiters.listen(call_id) as news:  # Before the look-up, so that nothing is missed in between.
                entry = await look()
                async for happenings in _read_elsewhere(call_id, after, event_log, progress):
                    after = happenings[-1].number
                    yield happenings
                event_log.note(entry)
                until = time.monotonic() + _LOOK
                while True:
                    changed = event_log.changed
                    if happenings := event_log.list_after(after):
                        after, taken = happenings[-1].number, (event_log.said, event_log.said_bytes)
                        yield happenings
                        watcher.take(*taken)  # A reader that asks for more has sent the previous ones.
                    if entry.has_ended:
                        yield entry
                        return
                    if not await _wait_for(news, changed, until):
                        break
            yield None


async def _read_elsewhere(
    call_id: str, after: int, event_log: EventLog, progress: ProgressReader
) -> AsyncGenerator[Sequence[LoggedEvent]]:
    async for _ in progress.read(call_id, event_log):
        if happenings := event_log.list_after(after):
            after = happenings[-1].number
            yield happenings


async def _wait_for(news: News, changed: asyncio.Event, until: float) -> bool:
    """Wait for more events; False if the ledger has to be read instead."""
    left = until - time.monotonic()
    if news.done() or left <= 0:
        return False
    more = asyncio.ensure_future(changed.wait())
    try:
        await asyncio.wait((news, more), timeout=left, return_when=asyncio.FIRST_COMPLETED)
    finally:
        more.cancel()
    return changed.is_set()

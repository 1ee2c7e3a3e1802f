"""Follow one call until it has ended."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from sidecall.features.calls.entry import CallEntry
from sidecall.features.jobs.completion_waiters import CompletionWaiters, News
from sidecall.features.jobs.event_log import EventLog, EventLogs, LoggedEvent
from sidecall.features.jobs.progress_reader import ProgressReader

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

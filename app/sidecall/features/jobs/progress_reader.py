"""Read progress events of other servers, for watchers here."""

import asyncio
from collections.abc import AsyncGenerator, Callable

from sidecall.features.calls.progress import ProgressLog
from sidecall.features.jobs.event_log import EventLog, EventLogs
from sidecall.kernel.core.overload import StoreUnavailable

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

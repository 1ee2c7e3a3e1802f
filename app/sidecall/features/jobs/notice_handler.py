"""Handle notices of other servers of a ledger."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sidecall.features.calls.notices import NoticeKind
from sidecall.features.jobs.completion_waiters import CompletionWaiters
from sidecall.features.jobs.progress_reader import ProgressReader
from sidecall.features.jobs.reconciler import JobReconciler
from sidecall.features.jobs.runner import Runner
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.heartbeat import Heartbeat

logger = logging.getLogger("sidecall")


class NoticeHandler:
    """Look for changes after a notice; the notice alone causes nothing."""

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

    def hear(self, kind: NoticeKind, call_id: str) -> None:
        """Look at a call, or without an id at all queued ones."""
        if kind == "queued":
            self._reconciler.note_queued()
        elif kind == "changed":
            self._waiters.deliver(call_id)
        elif kind == "progress":
            self._progress.look(call_id)
        elif call_id in self._runner:
            self._cancels.begin()

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

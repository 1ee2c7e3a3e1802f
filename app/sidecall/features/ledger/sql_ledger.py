"""A ledger in a database."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from uuid import uuid4

from sidecall.features.approvals.packing import MakeAnswer
from sidecall.features.approvals.rule_stores import SqlRules
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.audit.stores import SqlAudit
from sidecall.features.contents.sql_store import SqlContents
from sidecall.features.credentials.stores import SqlSecrets
from sidecall.features.jobs.progress import SqlProgress
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.ledger.ledger import Ledger, LedgerBounds, StoreKind
from sidecall.features.rates.quotas import SqlRates
from sidecall.features.store.sql_store import SqlItems
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Database
from sidecall.storage.heartbeat import SILENCE, Heartbeat, WorkerHeartbeat, name_worker
from sidecall.storage.outage import LateSteps

logger = logging.getLogger("sidecall")

# Seconds between two rounds in which it removes what has expired.
_ROUND = 30.0
# Seconds after which a server that has said nothing is not listed any more.
_FORGOTTEN = 3600.0


class DatabaseLedger(Ledger):
    """Stores everything in a database."""

    __slots__ = ("_call_rates", "_contents", "_decisions", "_items", "_kept_rules", "_late", "_make_answer", "_rounds")

    def __init__(
        self, database: Database, bounds: LedgerBounds, make_answer: MakeAnswer, silence: float = SILENCE
    ) -> None:
        """Prepare a ledger in a database.

        Args:
            database: Which.
            bounds: How much of it.
            make_answer: Makes the message of a call that failed.
            silence: Seconds without a sign of life after which another server counts as ended.
        """
        are_workers = database.dialect == "sqlite" and database.is_shared
        owner = name_worker() if are_workers else uuid4().hex
        self._make_answer = make_answer
        heartbeat = (WorkerHeartbeat if are_workers else Heartbeat)(database, owner, silence)
        # What one server keeps another may not take for expired, though their clocks differ; a file is of one machine.
        clock = time.time if database.dialect == "sqlite" else heartbeat.estimate_time
        self._decisions = SqlApprovals(
            database, owner, bounds.approval_ttl, bounds.max_approvals, bounds.max_waiting_bytes, clock
        )
        self._contents = SqlContents(
            database, bounds.artifact_ttl, bounds.max_artifact_bytes, quota=bounds.max_artifact_bytes_per_caller
        )
        self._rounds: list[asyncio.Task[None]] = []
        self._late = LateSteps()
        self._items = SqlItems(database, bounds.max_item_bytes)
        self._kept_rules = SqlRules(database, bounds.max_rules, most_of_tenant=bounds.max_rules_per_tenant)
        calls, queue = SqlCalls(database, bounds.calls), SqlCallQueue(database)
        super().__init__(self._decisions, self._contents, self._items, calls, queue, database, owner, self._kept_rules)
        self.heartbeat = heartbeat
        self._call_rates = SqlRates(database) if database.dialect == "postgres" else None
        self.rates = self._call_rates
        self.progress = SqlProgress(database) if database.is_shared else None
        self.audit = SqlAudit(database, bounds.audit_ttl, bounds.max_audit_entries)
        self.secrets = SqlSecrets(database, bounds.max_secrets)

    @property
    def kind(self) -> StoreKind:
        """The kind of database."""
        return self.database.dialect

    @property
    def is_behind(self) -> bool:
        """Whether the database was unavailable at the start, and its pending calls have not been read since."""
        return self._late.are_left

    async def open(self) -> None:
        """Migrate the database, and answer the calls that ran in a crashed process.

        Raises:
            StoreUnfit: It cannot be used by this program.
        """
        await self.database.open()
        self._items.attach()
        self._contents.attach()
        try:
            await self._late.take(self._begin)
        except BaseException:
            await self.database.close()
            raise
        await self.notifications.open()
        self._rounds = [asyncio.create_task(self._go_round(self._tidy, _ROUND))]
        if self.is_shared:
            self._rounds.append(asyncio.create_task(self._go_round(self._keep_company, self.heartbeat.pause)))

    async def _begin(self) -> None:
        """Register this server, and answer the calls of its crashed predecessor."""
        if not self.is_shared:  # One process has it, so any other owner in it is gone.
            await self.database.write("forget_servers", math.inf)
        await self.heartbeat.beat()
        await self.heartbeat.count_others()
        if not self.is_shared:
            await self._settle_lost(0.0)  # The only one that is left has said something since: this one.
        await self._tidy()

    async def close(self) -> None:
        """Finish pending work, within a bounded time."""
        if not self._rounds:
            return
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.database.close)
            stack.push_async_callback(self._leave)
            stack.push_async_callback(self._decisions.close)
            stack.push_async_callback(self.notifications.close)
            stack.push_async_callback(self._late.close)
            for task in self._rounds:
                task.cancel()
            self._rounds.clear()

    async def _leave(self) -> None:
        with suppress(StoreUnavailable):
            await self.database.write("forget_server", self.owner)

    async def _go_round(self, look: Callable[[], Awaitable[None]], pause: float) -> None:
        while True:
            await asyncio.sleep(pause)
            try:
                await look()
            except StoreUnavailable:
                continue
            except Exception:
                logger.exception("the ledger could not be looked after; it is tried again in %g s", pause)

    async def _keep_company(self) -> None:
        """Write heartbeats, and answer the calls of crashed servers."""
        await self.heartbeat.beat()
        await self.heartbeat.count_others()
        silent_since = await self.heartbeat.find_silence()
        if silent_since is not None:
            await self._settle_lost(silent_since)

    async def _settle_lost(self, silent_since: float) -> None:
        lost = await self._decisions.settle_lost(self._make_answer, silent_since)
        if lost:
            logger.warning("approved or rejected calls whose server ended before they were answered: %d", lost)

    async def _tidy(self) -> None:
        """Delete expired rows."""
        if self.is_shared:
            await self.database.write("forget_servers", await self.heartbeat.tell_time() - _FORGOTTEN)
        await self._decisions.forget()
        await self._kept_rules.forget()
        await self.audit.forget()
        await self._contents.forget()
        await self._items.forget()
        if self._call_rates is not None:
            await self._call_rates.forget()
        if self.progress is not None:
            await self.progress.forget()

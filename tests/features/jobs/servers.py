"""Servers whose databases wait at gates."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sidecall import Registry, StructuredTool
from sidecall.features.approvals.decide import decide
from sidecall.features.approvals.record import Decision
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.jobs.submission import JobLimits, Submission, entry_of
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.sender import Deadline, Sender
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database
from tests.features.jobs.gated import GatedDatabase
from tests.kit.pipelines import make_pipeline
from tests.kit.waiting import until

EVE = Caller("eve")


@dataclass
class Server:
    """The jobs of one server, and how it sees the database."""

    jobs: Jobs
    ledger: Ledger
    pipeline: Pipeline
    database: GatedDatabase

    async def submit(self, name: str, deadline: Deadline | None = None, how: Submission | None = None) -> CallEntry:
        """Have a call accepted, for whose end nobody waits unless that is said."""
        request = CallRequest(ToolCall(name=name, args={}, id="1"), Sender(deadline=deadline))
        return entry_of(await self.jobs.submit(request, how or Submission()))

    async def cancel_at(self, gate: asyncio.Event, entry: CallEntry, by: str = "") -> CallEntry:
        """Cancel a call whose server waits at a gate, and open that once the cancel has looked at the call."""
        cancelling = asyncio.ensure_future(self.jobs.cancel(entry.id, "default", by))
        await until(lambda: self.database.done["get_call"] > 0)
        gate.set()
        return await cancelling

    async def decide(self, approval_id: str, decision: Decision) -> None:
        """Decide about a call as a person does, and end it."""
        decided = await decide(self.pipeline, self.ledger.approvals, approval_id, decision, EVE)
        await self.jobs.end_awaiting(decided.approval)

    async def wait_for_person(self, entry: CallEntry) -> CallEntry:
        """Wait until a call waits."""
        return await self.jobs.wait(entry, 20, lambda entry: entry.status == "awaiting_approval")


def make_server(
    database: Database,
    tools: Iterable[StructuredTool],
    limits: Limits | None = None,
    jobs: JobLimits | None = None,
    clock: Callable[[], float] = time.time,
    most_bytes: int = 32 * 1024 * 1024,
    **options: Any,
) -> Server:
    """Make a server; `clock` says when its approvals expire, which are of `most_bytes` together."""
    gated, owner = GatedDatabase(database), uuid4().hex
    calls, queue = SqlCalls(gated), SqlCallQueue(gated)
    approvals = SqlApprovals(gated, owner, most_bytes=most_bytes, clock=clock)
    ledger = Ledger(approvals, MemoryContents(), MemoryItems(), calls, queue, gated, owner)
    registry = Registry(tools)
    pipeline = make_pipeline(registry, approvals=ledger.approvals, admission=Admission(limits or Limits()), **options)
    return Server(Jobs(ledger, pipeline, registry.get, jobs), ledger, pipeline, gated)

"""Servers whose databases wait at gates."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sidecall import Registry, StructuredTool
from sidecall.core.approval import Decision
from sidecall.core.calls.entry import CallEntry
from sidecall.core.context import Caller
from sidecall.core.deadline import Deadline
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolCall
from sidecall.jobs.jobs import Jobs
from sidecall.jobs.submission import JobLimits, Submission, entry_of
from sidecall.ledger.base import Ledger
from sidecall.ledger.memory.contents import MemoryContents
from sidecall.ledger.memory.items import MemoryItems
from sidecall.ledger.sql.approvals import SqlApprovals
from sidecall.ledger.sql.call_queue import SqlCallQueue
from sidecall.ledger.sql.calls import SqlCalls
from sidecall.ledger.sql.database import Database
from sidecall.pipeline.admission import Admission, Limits
from sidecall.pipeline.decide import decide
from sidecall.pipeline.pipeline import Pipeline
from tests.jobs.gated import GatedDatabase
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
        request = CallRequest(ToolCall(name=name, args={}, id="1"), deadline=deadline)
        return entry_of(await self.jobs.submit(request, how or Submission()))

    async def cancel_at(self, gate: asyncio.Event, entry: CallEntry, by: str = "") -> CallEntry:
        """Cancel a call whose server waits at a gate, and open that once the cancel has looked at the call."""
        cancelling = asyncio.ensure_future(self.jobs.cancel(entry.id, "default", by))
        await until(lambda: self.database.done["get_call"] > 0)
        gate.set()
        return await cancelling

    async def decide(self, approval_id: str, decision: Decision) -> None:
        """Decide about a call as a person does, and end it."""
        await self.jobs.notice(await decide(self.pipeline, self.ledger.approvals, approval_id, decision, EVE))

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

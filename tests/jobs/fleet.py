"""Servers of one PostgreSQL, which hear of each other by notices alone: nobody looks by themselves for an hour."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from sidecall import Registry, StructuredTool
from sidecall.core.calls.entry import CallEntry
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolCall
from sidecall.jobs import jobs, upkeep, watching
from sidecall.jobs.jobs import Jobs
from sidecall.jobs.submission import JobLimits, Submission, entry_of
from sidecall.ledger.base import Ledger
from sidecall.ledger.bounds import LedgerBounds
from sidecall.ledger.opening import open_ledger
from sidecall.pipeline.format import refuse
from tests.kit.pipelines import make_pipeline
from tests.kit.waiting import until

_NEVER = 3600.0


@dataclass
class Member:
    """One of the servers."""

    jobs: Jobs
    ledger: Ledger

    async def submit(self, name: str, context: dict[str, Any] | None = None, **args: Any) -> CallEntry:
        """Have a call accepted, for whose end nobody waits."""
        request = CallRequest(ToolCall(name=name, args=args, id="1"), context=context or {})
        return entry_of(await self.jobs.submit(request, Submission()))

    @property
    def running(self) -> int:
        """How many calls it runs."""
        return self.jobs.load.occupancy.busy

    @property
    def hears(self) -> bool:
        """Whether it is connected to the others."""
        link = self.ledger.notices._link  # type: ignore[attr-defined]
        return link.connection is not None and not self.ledger.notices._waiting  # type: ignore[attr-defined]


Tools = Sequence[StructuredTool]


@asynccontextmanager
async def open_fleet(
    url: str, tools: Sequence[Tools], limits: Callable[[int], JobLimits] = lambda _: JobLimits()
) -> AsyncIterator[list[Member]]:
    """Open a server for each of these lists of tools; all know of each other."""
    async with AsyncExitStack() as stack:
        members = []
        for number, offered in enumerate(tools):
            ledger, registry = open_ledger(url, LedgerBounds(), refuse), Registry(offered)
            pipeline = make_pipeline(registry, approvals=ledger.approvals)
            member = Member(Jobs(ledger, pipeline, registry.get, limits(number)), ledger)
            await ledger.open()
            stack.push_async_callback(ledger.close)
            await member.jobs.open()
            stack.push_async_callback(member.jobs.close)
            members.append(member)
        await until(lambda: all(member.hears for member in members))
        for member in members:
            await member.ledger.heartbeat.count_others()
        yield members


@pytest.fixture
def _nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_LOOK", _NEVER)
    monkeypatch.setattr(watching, "_LOOK", _NEVER)
    monkeypatch.setattr(upkeep, "_PAUSE", _NEVER)

"""Servers of one PostgreSQL, or workers of one file, which hear of each other by notifications alone: nobody looks."""

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from sidecall import Registry, StructuredTool
from sidecall.features.jobs import jobs, notification_handler, recovery
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.jobs.submission import JobLimits, Submission, entry_of
from sidecall.features.ledger.ledger import Ledger, LedgerBounds
from sidecall.features.ledger.open_ledger import Writers, open_ledger
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.postgres.notifications import PostgresNotifications
from sidecall.storage.sqlite.database import WorkerNotifications
from sidecall.storage.sqlite.shared_writer import SharedWriter
from sidecall.storage.sqlite.tables import LEDGER
from tests.kit.pipelines import make_pipeline
from tests.kit.processes import find_writers
from tests.kit.waiting import until

_NEVER = 3600.0


@dataclass(frozen=True)
class Place:
    """Where they keep their calls."""

    url: str
    writers: Writers = field(default_factory=dict)

    async def disconnect(self, member: "Member") -> None:
        """Break off the way by which a server hears the others, and wait until there is another."""
        notifications = member.ledger.notifications
        if isinstance(notifications, PostgresNotifications):
            connection = notifications._link.connection
            assert connection is not None
            pid = connection.get_server_pid()
            other = await asyncpg.connect(self.url)
            await other.execute("SELECT pg_terminate_backend($1)", pid)
            await other.close()
            await until(lambda: notifications._link.connection not in (None, connection))
        else:
            assert isinstance(notifications, WorkerNotifications)
            [pid] = find_writers()
            os.kill(pid, signal.SIGKILL)
            await until(lambda: member.ledger.trouble is not None)
            await until(lambda: member.ledger.trouble is None)


@pytest.fixture(params=["postgres", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Give an empty database, and an empty file with the process that writes it for all."""
    if request.param == "postgres":
        yield Place(request.getfixturevalue("emptied_url"))
        return
    writer = SharedWriter(tmp_path / "ledger.db", LEDGER)
    writer.open()
    yield Place(f"sqlite:///{tmp_path / 'ledger.db'}", {LEDGER.series: writer.socket})
    writer.close()


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
        notifications = self.ledger.notifications
        if isinstance(notifications, PostgresNotifications):
            return notifications._link.connection is not None and not notifications._waiting
        assert isinstance(notifications, WorkerNotifications)
        return notifications._is_linked and not notifications._waiting


Tools = Sequence[StructuredTool]


@asynccontextmanager
async def open_fleet(
    place: Place, tools: Sequence[Tools], limits: Callable[[int], JobLimits] = lambda _: JobLimits()
) -> AsyncIterator[list[Member]]:
    """Open a server for each of these lists of tools; all know of each other."""
    async with AsyncExitStack() as stack:
        members = []
        for number, offered in enumerate(tools):
            ledger, registry = open_ledger(place.url, LedgerBounds(), refuse, writers=place.writers), Registry(offered)
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
    monkeypatch.setattr(notification_handler, "_LOOK", _NEVER)
    monkeypatch.setattr(recovery, "_PAUSE", _NEVER)

"""Every queued call is begun once there is room, no matter what happens while the queue is counted."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sidecall import tool
from sidecall.features.jobs import recovery
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.records import Acceptance
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.jobs.submission import JobLimits, Submission
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database
from tests.features.jobs.servers import Server, make_server
from tests.kit.waiting import until


@tool
async def stay() -> str:
    """Wait for ever."""
    return await asyncio.Event().wait() and ""


@tool
async def go() -> str:
    """Go."""
    return "gone"


@pytest.fixture
async def server(database: Database) -> AsyncIterator[Server]:
    """Give a server that runs one call at a time."""
    made = make_server(database, (stay, go), jobs=JobLimits(running=1))
    await made.jobs.open()
    yield made
    await made.jobs.close()


async def require_run(server: Server, busy: CallEntry, *queued: CallEntry) -> None:
    """Require that queued calls run once the one that runs has ended."""
    assert [entry.status for entry in queued] == ["queued"] * len(queued)
    await server.jobs.cancel(busy.id, "default")
    assert [(await server.jobs.wait(entry, 20)).status for entry in queued] == ["succeeded"] * len(queued)
    await until(lambda: server.jobs.load.occupancy.waiting == 0)


async def test_a_call_is_begun_that_is_queued_while_it_is_counted(server: Server) -> None:
    """What was read does not hide it."""
    busy, unwanted = await server.submit("stay"), await server.submit("go")
    gate = server.database.shut_behind("count_queued_calls")
    cancelling = asyncio.ensure_future(server.jobs.cancel(unwanted.id, "default"))
    await server.database.meet_behind("count_queued_calls")
    queued = await server.submit("go")
    gate.set()
    await cancelling

    await require_run(server, busy, queued)


async def test_a_call_is_begun_though_others_were_counted_while_they_were_begun(server: Server) -> None:
    """They are not taken off twice."""
    busy, unwanted = await server.submit("stay"), await server.submit("go")
    queued = [await server.submit("go") for _ in range(3)]
    claiming = server.database.shut_behind("claim_call")
    ending = asyncio.ensure_future(require_run(server, busy, *queued))
    await server.database.meet_behind("claim_call")
    await server.jobs.cancel(unwanted.id, "default")
    claiming.set()

    await ending


async def test_a_call_is_begun_though_nobody_knew_that_it_was_queued(server: Server) -> None:
    """It is found by its key."""
    busy = await server.submit("stay")
    server.database.after["accept_call"] = 1

    queued = await server.submit("go", how=Submission(CallKey("key", "call", 9e9)))

    await require_run(server, busy, queued)


async def test_a_call_is_found_that_nobody_has_counted(
    server: Server, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue is counted again from time to time."""
    monkeypatch.setattr(recovery, "_SLOW_LOOK", 1.5)
    record = CallRecord.of(CallRequest(ToolCall(name="go", args={}, id="1"), Sender(caller=Caller("eve"))), "01")
    await SqlCalls(database).accept(record, Acceptance())

    assert (await server.jobs.wait(await server.jobs.get("01", "default"), 20)).status == "succeeded"

"""Who waits for a call that another server runs hears what to do where that refuses it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sidecall import tool
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.records import Acceptance
from sidecall.features.jobs.submission import Submission
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database
from tests.features.jobs.servers import Server, make_server

KEY = CallKey("key", "call", 9e9)


@tool
async def go() -> str:
    """Go."""
    return "gone"


@pytest.fixture
async def server(database: Database) -> AsyncIterator[Server]:
    """Give a server."""
    made = make_server(database, (go,))
    await made.jobs.open()
    yield made
    await made.jobs.close()


@pytest.fixture
async def known(server: Server) -> CallEntry:
    """Give a call that another server runs, found by its key."""
    record = CallRecord.of(CallRequest(ToolCall(name="go", args={}, id="1")), "01")
    await server.ledger.calls.accept(record, Acceptance("another", key=KEY))
    entry = await server.submit("go", how=Submission(KEY, waits=True))
    assert (entry.id, entry.status) == ("01", "running")
    return entry


async def test_it_is_to_be_sent_again(server: Server, known: CallEntry) -> None:
    """It is no call that nobody has ever heard of."""
    waiting = asyncio.ensure_future(server.jobs.wait_for_known(known, 20))
    await asyncio.sleep(0)
    await server.ledger.calls.forget("01", 1)

    with pytest.raises(Overloaded, match=r"^The call was refused before it began") as refused:
        await waiting
    assert refused.value.members == {"retryable": True, "retry_after": 1}


async def test_then_it_runs(server: Server, known: CallEntry) -> None:
    """Its key is free."""
    await server.ledger.calls.forget(known.id, 1)

    entry = await server.submit("go", how=Submission(KEY, waits=True))

    assert (await server.jobs.wait(entry, 20)).status == "succeeded"

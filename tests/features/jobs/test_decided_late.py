"""What is approved at the moment at which it expires either runs or has expired, and not both."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from sidecall import tool
from sidecall.features.approvals.decide import decide
from sidecall.features.approvals.record import Decision
from sidecall.kernel.core.errors import UnknownApproval
from sidecall.storage.database import Database
from tests.features.jobs.servers import EVE, Server, make_server
from tests.kit.ledgers import Clock

RAN: Counter[str] = Counter()
APPROVE = Decision(decision="approve")


@tool(requires_approval=True)
async def pay() -> str:
    """Pay."""
    RAN["pay"] += 1
    return "paid"


@pytest.fixture(autouse=True)
def _forget() -> None:
    RAN.clear()


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands still."""
    return Clock()


@pytest.fixture
async def server(database: Database, clock: Clock) -> AsyncIterator[Server]:
    """Give a server whose approvals expire when a test says so."""
    made = make_server(database, [pay], clock=clock)
    await made.jobs.open()
    yield made
    await made.jobs.close()


async def test_what_is_being_approved_has_expired_once_its_call_has_ended(server: Server, clock: Clock) -> None:
    """Anyone who approves is told so, and nothing runs."""
    entry = await server.wait_for_person(await server.submit("pay"))
    assert entry.approval_id is not None
    gate = server.database.shut("change_approval")
    deciding = asyncio.ensure_future(decide(server.pipeline, server.ledger.approvals, entry.approval_id, APPROVE, EVE))
    await server.database.meet("change_approval")
    clock.now += 4000.0

    ended = await server.jobs.get(entry.id, "default")
    gate.set()

    with pytest.raises(UnknownApproval):
        await deciding
    assert (ended.status, RAN["pay"]) == ("expired", 0)


async def test_a_call_that_was_approved_just_before_has_not_expired(server: Server, clock: Clock) -> None:
    """Though somebody who looked has seen that its time was over."""
    entry = await server.wait_for_person(await server.submit("pay"))
    assert entry.approval_id is not None
    gate = server.database.shut("expire_approval")
    deciding_at = clock.now
    clock.now += 4000.0
    looking = asyncio.ensure_future(server.jobs.get(entry.id, "default"))
    await server.database.meet("expire_approval")
    clock.now = deciding_at
    await server.decide(entry.approval_id, APPROVE)
    gate.set()

    assert (await looking).status == "succeeded"
    assert RAN["pay"] == 1

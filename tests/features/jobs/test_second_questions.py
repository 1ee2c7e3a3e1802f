"""A tool may ask a second time, as long as there is room for what it asks."""

from collections.abc import AsyncIterator

import pytest

from sidecall import ToolContext, tool
from sidecall.features.approvals.decide import decide
from sidecall.features.approvals.record import Decision
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.storage.database import Database
from tests.features.jobs.servers import EVE, Server, make_server

APPROVE = Decision(decision="approve")


@tool
async def ask_more(context: ToolContext) -> str:
    """Ask for little, then for much."""
    if context.resumed is None:
        raise ApprovalRequired("First?", state=1)
    raise ApprovalRequired("Second?", payload="x" * 16_000, state=2)


@pytest.fixture
async def server(database: Database) -> AsyncIterator[Server]:
    """Give a server that keeps few bytes of approvals."""
    made = make_server(database, [ask_more], most_bytes=15_000)
    await made.jobs.open()
    yield made
    await made.jobs.close()


async def test_a_call_that_has_no_room_to_ask_again_fails(server: Server) -> None:
    """The one who decided is told so too."""
    entry = await server.wait_for_person(await server.submit("ask_more"))
    assert entry.approval_id is not None

    approval, _ = await decide(server.pipeline, server.ledger.approvals, entry.approval_id, APPROVE, EVE)
    await server.jobs.end_awaiting(approval)
    ended = await server.jobs.get(entry.id, "default")

    assert approval.message is not None
    assert (approval.status, approval.message.response_metadata["error"]["kind"]) == ("approved", "overloaded")
    assert (ended.status, ended.kind) == ("failed", "overloaded")
    assert ended.message is not None
    assert "SIDECALL_MAX_WAITING_BYTES" in str(ended.message.content)

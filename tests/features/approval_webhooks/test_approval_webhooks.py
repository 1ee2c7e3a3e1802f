"""Somebody is told that a call waits for them, on each store."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry
from sidecall.features.approval_webhooks.notifier import SqlApprovalMessages, name_receiver
from sidecall.features.ledger.ledger import Ledger
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.webhooks.listening import SECRET, Heard, Listening, listen
from tests.features.webhooks.test_webhooks import verify
from tests.kit.postgres import cluster, emptied_url
from tests.kit.remembered import refund
from tests.kit.waiting import until

__all__ = ["cluster", "emptied_url"]
CALL = {"name": "refund", "args": {"order": "a"}, "id": "call_1"}


@dataclass
class Served:
    """A server that tells a receiver."""

    client: httpx.AsyncClient
    ledger: Ledger
    receiver: Listening

    async def ask(self, id: str = "call_1") -> str:
        """Have a call wait, and return its approval's id."""
        return str((await self.client.post("/tool_calls", json=CALL | {"id": id})).json()["id"])

    async def decide(self, approval_id: str, **decision: str) -> None:
        """Decide about it."""
        (await self.client.post(f"/approvals/{approval_id}", json=decision)).raise_for_status()

    async def bring_forward(self) -> None:
        """Have the last message be due now, once those before it are settled."""
        messages = SqlApprovalMessages(self.ledger.database, [name_receiver(f"{self.receiver.host}/told?by=us")])
        while len(waiting := await messages.list_due(time.time() + 1_000_000, 100, 100)) > 1:  # noqa: ASYNC110  the server settles them
            await asyncio.sleep(0.01)
        for due in waiting:
            await messages.settle(due, 1.0)

    async def hear(self, count: int) -> list[Heard]:
        """Wait for so many messages."""
        await until(lambda: len(self.receiver.heard) >= count)
        return self.receiver.heard


@asynccontextmanager
async def serve(receiver: Listening, **settings: Any) -> AsyncIterator[Served]:
    """Serve a tool whose calls wait for a person."""
    told = {"approval_webhooks": f"{receiver.host}/told?by=us", "webhook_secret": SECRET, "drain_timeout": 0}
    app = create_app(Settings(**told | settings), Registry([refund]))
    transport = httpx.ASGITransport(app=app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        yield Served(client, app.state.ledger, receiver)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name a store."""
    if request.param == "postgres":
        return str(request.getfixturevalue("emptied_url"))
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/ledger.db"


async def test_what_becomes_of_an_approval_is_told(store: str) -> None:
    """As lists show it then, with the way to the console, signed."""
    async with listen() as receiver, serve(receiver, store=store, public_url="https://tools.example.com/a/") as served:
        asked = await served.ask()
        [listed] = (await served.client.get("/approvals")).json()
        await served.hear(1)
        await served.bring_forward()
        await served.hear(2)
        await served.decide(asked, decision="approve", reason="Fine.")
        requested, expiring, decided = await served.hear(3)

    link = {"url": f"https://tools.example.com/a/console/approvals/{asked}"}
    assert [one.said["type"] for one in receiver.heard] == [
        "approval.requested", "approval.expiring", "approval.decided",
    ]  # fmt: skip
    assert requested.said["data"] == expiring.said["data"] == listed | link
    told = {"status": "approved", "decided_by": "anonymous", "reason": "Fine.", "message": None, **link}
    assert decided.said["data"] == listed | told | {"decided_at": decided.said["data"]["decided_at"]}
    assert requested.said["timestamp"][:3] == "202"
    assert requested.said["timestamp"] < expiring.said["timestamp"] < listed["expires_at"]
    assert [(one.path, verify(one)) for one in receiver.heard] == [("/told?by=us", True)] * 3
    assert len({one.headers["webhook-id"] for one in receiver.heard}) == 3


async def test_without_a_public_address_the_link_is_a_path(caplog: pytest.LogCaptureFixture) -> None:
    """The log says whom the server tells, without the part of the address that may be a secret."""
    with caplog.at_level(logging.INFO, "sidecall"):
        async with listen() as receiver, serve(receiver) as served:
            asked = await served.ask()
            [heard] = await served.hear(1)

    assert heard.said["data"]["url"] == f"/console/approvals/{asked}"
    assert f"webhooks about approvals go to {receiver.host}" in caplog.messages
    assert "told?by" not in caplog.text


async def test_two_receivers_get_all_of_it() -> None:
    """One that is away does not hold up the other."""
    async with listen(500) as away, listen() as receiver:
        both = f"{away.host}/, {receiver.host}/ {receiver.host}/"
        async with serve(receiver, approval_webhooks=both) as served:
            await served.decide(await served.ask(), decision="reject")
            await served.hear(2)
            await until(lambda: len(away.heard) >= 2)

    for heard in (away.heard, receiver.heard):
        assert {one.said["type"] for one in heard} == {"approval.decided", "approval.requested"}
        assert {one.said["data"]["status"] for one in heard} == {"pending", "rejected"}

"""Remembered calls that have ended are kept as long as was said, and no longer."""

import asyncio
from pathlib import Path

import httpx
import pytest

from sidecall import Registry
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, RAN, charge, key, refund, send


@pytest.fixture(autouse=True)
def _forget() -> None:
    RAN.clear()


async def test_where_there_is_no_room_what_is_known_is_answered(make_client: MakeClient) -> None:
    """A key within its time is not forgotten for another, and plain calls go on."""
    client = await make_client(charge, max_jobs=1)
    first = await send(client, "charge", order="1", headers=key("a"))
    refused = [await send(client, "charge", order="2", headers=headers) for headers in (key("b"), ASYNC)]
    again = await send(client, "charge", order="1", headers=key("a"))
    plain = await send(client, "charge", order="3")

    assert [answer.status_code for answer in (first, *refused, again, plain)] == [200, 503, 503, 200, 200]
    assert [answer.json()["type"].rpartition(":")[2] for answer in refused] == ["too-many-jobs"] * 2
    assert refused[0].json()["title"] == "So many calls are queued or kept that this server takes no more."
    assert refused[0].headers["Retry-After"] == "10"
    assert "none of which may be forgotten yet" in refused[0].json()["detail"]
    assert (again.json(), again.headers["Idempotency-Replayed"]) == (first.json(), "true")
    assert dict(RAN) == {"1": 1, "3": 1}


async def test_what_is_forgotten_is_nowhere(make_client: MakeClient) -> None:
    """Neither by its id nor in a list, and it cannot run again."""
    client = await make_client(charge, max_jobs=1, idempotency_ttl=1e-9, job_ttl=1e-9)
    ids = [(await send(client, "charge", order=order, headers=key(order))).json()["id"] for order in ("1", "2")]
    asked = await client.get(f"/tool_calls/{ids[0]}")
    repeated = await client.post(f"/tool_calls/{ids[0]}/replay", json={"insist": True})

    assert [answer.status_code for answer in (asked, repeated)] == [404, 404]
    assert ids[0] not in [entry["id"] for entry in (await client.get("/tool_calls")).json()]


@pytest.mark.parametrize("store", ["memory://", "sqlite"])
async def test_a_decided_call_has_its_answer_as_long_as_its_approval(
    make_client: MakeClient, tmp_path: Path, store: str
) -> None:
    """Other calls find no room meanwhile."""
    url = store if store == "memory://" else f"sqlite:///{tmp_path / 'ledger.db'}"
    client = await make_client(refund, charge, max_jobs=1, idempotency_ttl=1e-9, job_ttl=1e-9, store=url)
    sent = await send(client, "refund", order="7", headers=ASYNC)
    path = sent.headers["Location"]
    while (waiting := (await client.get(path)).json())["status"] != "awaiting_approval":  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(0.01)
    decided = await client.post(f"/approvals/{waiting['approval_id']}", json={"decision": "approve"})
    refused = await send(client, "charge", order="2", headers=ASYNC)
    entry = (await client.get(path)).json()

    assert (decided.status_code, refused.status_code) == (200, 503)
    assert (entry["status"], entry["message"]["content"]) == ("succeeded", "refunded 7")


async def test_after_a_restart_there_is_no_more_room_than_before(tmp_path: Path) -> None:
    """What is in the file counts."""
    answers = []
    for order in ("1", "2", "3"):
        app = create_app(Settings(store=f"sqlite:///{tmp_path / 'ledger.db'}", max_jobs=2), Registry([charge]))
        transport = httpx.ASGITransport(app=app)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as it:
            answers.append(await send(it, "charge", order=order, headers=key(order)))

    assert [answer.status_code for answer in answers] == [200, 200, 503]

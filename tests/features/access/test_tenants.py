"""One tenant never sees what is another's, even of callers of the same name and with every scope."""

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import BaseTool, Cache, ToolContext, tool
from tests.features.webhooks.listening import SECRET, listen
from tests.kit.callers.keys import write_keys
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.kit.waiting import until

KEY = {"Idempotency-Key": "1"}


@tool
async def remember(word: str, context: ToolContext) -> str:
    """Remember a word, and return the one before."""
    assert context.store is not None
    before = await context.store.aget(("words",), "last")
    await context.store.aput(("words",), "last", word)
    return before.value if before else "nothing"


@tool(requires_approval=True)
async def delete_order() -> str:
    """Delete an order."""
    return "deleted"


@tool(max_content_bytes=200)
async def read_log() -> str:
    """Read much."""
    return "line\n" * 1000


def make_look_up() -> BaseTool:
    """Make a tool that says how often it has run; all callers of a tenant share its answers."""
    runs = count(1)

    @tool(cache=Cache(ttl=60, per_caller=False), annotations={"read_only": True})
    async def look_up(word: str) -> str:
        """Look a word up."""
        run = next(runs)
        await asyncio.sleep(0.3)
        return f"{word} {run}"

    return look_up


@pytest.fixture(params=["memory://", "sqlite:///{}/ledger.db"], ids=["memory", "sqlite"])
async def tenants(request: pytest.FixtureRequest, make_client: MakeClient, tmp_path: Path) -> Any:
    """Give a client, and the headers of a caller of one name in each of two tenants."""
    headers = [write_keys(tmp_path / "keys", {"ann": ("*",)}, tenant)["ann"] for tenant in ("acme", "zeta")]
    store = request.param.format(tmp_path)
    tools = (remember, delete_order, read_log, make_look_up())
    client = await make_client(*tools, auth=("api_key",), keys_file=tmp_path / "keys", store=store)
    return client, *headers


async def test_calls_are_of_one_tenant(tenants: tuple[httpx.AsyncClient, Any, Any]) -> None:
    """Found by id, listed, written out, watched, cancelled, repeated."""
    client, ours, theirs = tenants
    sent = await client.post("/tool_calls", json=write_call("read_log"), headers=ours | KEY)
    call = f"/tool_calls/{sent.json()['id']}"

    listed = [len((await client.get("/tool_calls", headers=headers)).json()) for headers in (ours, theirs)]
    written = [(await client.get("/tool_calls/export", headers=headers)).text for headers in (ours, theirs)]
    answers = {
        "get": await client.get(call, headers=theirs),
        "events": await client.get(f"{call}/events", headers=theirs),
        "cancel": await client.post(f"{call}/cancel", headers=theirs),
        "replay": await client.post(f"{call}/replay", json={"insist": True}, headers=theirs),
    }

    assert (await client.get(call, headers=ours)).status_code == 200
    assert (listed, bool(written[0]), written[1]) == ([1, 0], True, "")
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(answers, 404)
    assert {answer.json()["type"] for answer in answers.values()} == {"urn:sidecall:problem:unknown-call"}


async def test_keys_are_of_one_tenant(tenants: tuple[httpx.AsyncClient, Any, Any]) -> None:
    """The same key with another call is no conflict, and its answer is nobody else's."""
    client, ours, theirs = tenants

    answers = [
        await client.post("/tool_calls", json=write_call("remember", word=word), headers=headers | KEY)
        for headers, word in ((ours, "tea"), (theirs, "milk"), (ours, "tea"))
    ]

    assert [answer.json()["content"] for answer in answers] == ["nothing", "nothing", "nothing"]
    assert ["Idempotency-Replayed" in answer.headers for answer in answers] == [False, False, True]


async def test_stored_items_are_of_one_tenant(tenants: tuple[httpx.AsyncClient, Any, Any]) -> None:
    """Under the same namespace and key."""
    client, ours, theirs = tenants

    said = [
        (await client.post("/tool_calls", json=write_call("remember", word=word), headers=headers)).json()["content"]
        for headers, word in ((ours, "tea"), (theirs, "milk"), (ours, "water"), (theirs, "wine"))
    ]

    assert said == ["nothing", "nothing", "tea", "milk"]


async def test_contents_are_of_one_tenant(tenants: tuple[httpx.AsyncClient, Any, Any]) -> None:
    """Those that were cut, and those that were sent."""
    client, ours, theirs = tenants
    cut = (await client.post("/tool_calls", json=write_call("read_log"), headers=ours)).json()
    kept = (await client.post("/contents", content=b"a", headers=ours)).json()

    for url in (cut["response_metadata"]["artifact_url"], kept["url"]):
        assert (await client.get(url, headers=theirs)).status_code == 404
        assert (await client.delete(url, headers=theirs)).status_code == 404
        assert (await client.get(url, headers=ours)).status_code == 200


async def test_approvals_are_of_one_tenant(tenants: tuple[httpx.AsyncClient, Any, Any]) -> None:
    """Not listed, not shown, not decided, and not joined by the same call."""
    client, ours, theirs = tenants
    asked = [await client.post("/tool_calls", json=write_call("delete_order"), headers=who) for who in (ours, theirs)]
    first, second = (answer.json()["id"] for answer in asked)
    listed = [[one["id"] for one in (await client.get("/approvals", headers=who)).json()] for who in (ours, theirs)]
    approve = {"decision": "approve"}

    seen = (await client.get(f"/approvals/{first}", headers=theirs)).status_code
    refused = await client.post(f"/approvals/{first}", json=approve, headers=theirs)
    missing = await client.post(f"/approvals/{first[:-1]}x", json=approve, headers=theirs)
    decided = await client.post(f"/approvals/{first}", json=approve, headers=ours)

    assert listed == [[first], [second]]
    assert (seen, refused.status_code, decided.status_code) == (404, 404, 200)
    assert {**refused.json(), "instance": ""} == {**missing.json(), "instance": ""}


async def test_answers_that_are_given_again_are_of_one_tenant(tenants: tuple[httpx.AsyncClient, Any, Any]) -> None:
    """Also where all callers of a tenant share them, and while the tool runs for both."""
    client, ours, theirs = tenants
    call = write_call("look_up", word="tea")

    together = await asyncio.gather(
        *(client.post("/tool_calls", json=call, headers=who) for who in (ours, theirs, ours, theirs))
    )
    later = [await client.post("/tool_calls", json=call, headers=who) for who in (ours, theirs)]

    said = [(answer.json()["content"], answer.headers["X-Cache"]) for answer in (*together, *later)]
    mine, others = said[0::2], said[1::2]
    assert [status for _, status in mine] == [status for _, status in others] == ["miss", "shared", "hit"]
    assert {content for content, _ in said} == {"tea 1", "tea 2"}
    assert [len({content for content, _ in it}) for it in (mine, others)] == [1, 1]


async def test_webhooks_tell_of_one_tenants_calls(make_client: MakeClient, tmp_path: Path) -> None:
    """Each of the call for which it was asked, though both have the same id, key and tool."""
    ours, theirs = (write_keys(tmp_path / "keys", {"ann": ("*",)}, tenant)["ann"] for tenant in ("acme", "zeta"))
    async with listen() as receiver:
        told = {"webhook_hosts": (receiver.host,), "webhook_secret": SECRET}
        client = await make_client(remember, auth=("api_key",), keys_file=tmp_path / "keys", **told)
        ids = {}
        for who, headers in (("acme", ours), ("zeta", theirs)):
            call = {**write_call("remember", word=who), "callback_url": f"{receiver.host}/{who}"}
            accepted = await client.post("/tool_calls", json=call, headers=headers | KEY)
            ids[f"/{who}"] = accepted.headers["Location"].rpartition("/")[2]
        await until(lambda: len(receiver.heard) == 2)
        again = await client.post("/tool_calls", json=call, headers=theirs | KEY)

    assert {message.path: message.said["data"]["id"] for message in receiver.heard} == ids
    assert len(set(ids.values())) == 2
    assert again.json()["id"] == ids["/zeta"]

"""Plain calls are found after they have ended, wherever they are kept."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import httpx
import pytest

from sidecall import InjectedToolArg, tool
from sidecall.features.history.rollups import PARTS
from sidecall.kernel.registry import Registry
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.history.past import add, call, leak, list_fields, list_ids, pay, say
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, send


async def test_calls_are_listed_newest_first_page_by_page(make_client: MakeClient, store: str) -> None:
    """Each once, over many blocks, and those of a batch among them."""
    client = await make_client(say, add, store=store)
    ids = [await call(client, "add", a=number, b=1) for number in range(40)]
    await client.get("/tool_calls?limit=1")  # What comes now is written apart.
    batch = [{"name": "say", "args": {"text": str(number)}, "id": f"b{number}"} for number in range(10)]
    answers = (await client.post("/tool_calls/batch", json=batch)).json()
    ids = sorted([*ids, *(answer["id"] for answer in answers)], reverse=True)

    assert await list_ids(client, "limit=7") == ids
    assert await list_ids(client, "limit=1000") == ids


async def test_calls_are_chosen_by_what_is_known_of_them(make_client: MakeClient, store: str) -> None:
    """By the parameters of the list, alone and together."""
    client = await make_client(say, add, store=store, caller_header="X-User")
    ids: dict[str, str] = {}
    for number, (user, text) in enumerate([("ann", "hi"), ("ann", "bad"), ("bob", "bad"), ("bob", "ho")]):
        client.headers["X-User"] = user
        ids[f"{user} {text}"] = await call(client, "say", text=text)
        if number == 1:
            await client.get("/tool_calls")
    client.headers["X-User"] = "ann"
    ids["wrong"] = await call(client, "add", a="x", b=1)

    async def ask(query: str) -> list[str]:
        names = {call_id: name for name, call_id in ids.items()}
        return [names[call_id] for call_id in await list_ids(client, query)]

    assert await ask("name=say&status=failed") == ["bob bad", "ann bad"]
    assert await ask("kind=tool_error&caller=ann") == ["ann bad"]
    assert await ask("kind=invalid_arguments") == ["wrong"]
    assert await ask("name=add&name=say&status=succeeded") == ["bob ho", "ann hi"]
    assert await ask("tag=speech&caller=bob") == ["bob ho", "bob bad"]
    assert await ask("name=nothing") == await ask("status=running") == await ask("tag=nothing") == []
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    assert await ask(f"since={later}") == []
    assert len(await ask(f"until={later}")) == 5


async def test_a_call_is_kept_once_it_was_let_in(make_client: MakeClient) -> None:
    """Though it was refused then, for what its program has left out; one of an unknown tool was not let in."""

    @tool
    async def greet(user: Annotated[str, InjectedToolArg]) -> str:
        """Greet a user."""
        return f"hello {user}"

    client = await make_client(greet)

    refused = await send(client, "greet")
    await send(client, "nothing")
    [listed] = (await client.get("/tool_calls")).json()

    assert (refused.status_code, listed["status"], listed["kind"]) == (422, "failed", "missing_context")


async def test_a_call_is_shown_with_its_answer(make_client: MakeClient, store: str) -> None:
    """In the words of remembered calls."""
    client = await make_client(say, store=store)
    call_id = await call(client, "say", text="bad")

    shown = (await client.get(f"/tool_calls/{call_id}?format=openai")).json()

    times = [shown.pop(name) for name in ("created_at", "started_at", "ended_at")]
    assert times == sorted(times)
    assert shown.pop("duration_ms") > 0
    assert (shown.pop("request_id") is not None, shown.pop("progress"), shown.pop("worker")) == (True, None, None)
    assert shown == {
        "id": call_id,
        "name": "say",
        "tool_call_id": "call_1",
        "status": "failed",
        "kind": "tool_error",
        "caller": "anonymous",
        "is_durable": False,
        "attempt": 1,
        "queue_ms": 0.0,
        "attempts": 1,
        "cost": 0.0,
        "tags": ["speech"],
        "args": {"text": "bad"},
        **dict.fromkeys(("approval_id", "decided_by", "decided_at", "reason", "asked_args")),
        **dict.fromkeys(("replay_of", "conversation_id", "trace_id")),
        "message": {"role": "tool", "tool_call_id": "call_1", "content": "not a nice word"},
    }


async def test_remembered_calls_stand_among_the_others(make_client: MakeClient, store: str) -> None:
    """In one order; a call that is remembered is not there twice."""
    client = await make_client(say, store=store, drain_timeout=0)
    ids = []
    for number in range(6):
        if number % 2:
            answer = await send(client, "say", headers={**ASYNC, "Prefer": "wait=10"}, text=str(number))
            ids.append(answer.json()["id"])
        else:
            ids.append(await call(client, "say", text=str(number)))

    assert await list_ids(client, "limit=2") == ids[::-1]
    lines = (await client.get("/tool_calls/export")).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids[::-1]
    assert (await client.get("/tool_calls/summary")).json()["total"]["calls"] == 6


async def test_a_summary_counts_calls_and_failures(make_client: MakeClient, store: str) -> None:
    """By each part, in whole hours."""
    client = await make_client(say, add, store=store)
    for text in ("a", "bad", "bad", "b"):
        await call(client, "say", text=text)
    await call(client, "add", a=1, b=2)

    async def ask(query: str) -> list[Any]:
        answer = (await client.get(f"/tool_calls/summary?{query}")).json()
        return [(group["value"], group["calls"], group["errors"]) for group in answer["groups"]]

    assert await ask("by=name") == [("say", 4, 2), ("add", 1, 0)]
    assert await ask("by=status") == [("succeeded", 3, 0), ("failed", 2, 2)]
    assert await ask("by=kind") == [("tool_error", 2, 2), (None, 3, 0)]
    assert await ask("by=caller") == [("anonymous", 5, 2)]
    assert sum(calls for _, calls, _ in await ask("by=hour")) == 5
    assert await ask("until=2020-01-01T00:00:00Z") == []
    # Ends of the calendar, which whole hours would go beyond.
    assert await ask("since=0001-01-01T00:00:00%2B14:00&until=9999-12-31T23:59:59-14:00") == [
        ("say", 4, 2),
        ("add", 1, 0),
    ]
    totals = [(await client.get(f"/tool_calls/summary?by={part}")).json()["total"] for part in (*PARTS, "hour")]
    assert [total.pop("values") for total in totals] == [{part: None} for part in (*PARTS, "hour")]
    assert totals == [totals[0]] * 5
    total = totals[0]
    assert 0 < total["p50_ms"] <= total["p95_ms"]


async def test_a_call_is_repeated_where_all_of_it_is_kept(make_client: MakeClient, store: str) -> None:
    """Not where something was taken out, or came beside it."""
    client = await make_client(say, store=store, drain_timeout=0)
    whole = await call(client, "say", text="hi")
    redacted = await call(client, "say", text="hi", api_key="k")
    beside = await client.post(
        "/tool_calls", json={"name": "say", "args": {"text": "hi"}, "id": "1", "context": {"user": "ann"}}
    )

    async def repeat(call_id: str) -> httpx.Response:
        return await client.post(f"/tool_calls/{call_id}/replay", json={"insist": True}, headers={"Prefer": "wait=10"})

    assert (await repeat(whole)).json()["content"] == "said hi"
    assert [(await repeat(call_id)).status_code for call_id in (redacted, beside.json()["id"])] == [410, 410]


async def test_what_has_ended_cannot_be_cancelled_and_is_heard_at_once(make_client: MakeClient) -> None:
    """As with remembered calls."""
    client = await make_client(say)
    call_id = await call(client, "say", text="hi")

    assert (await client.post(f"/tool_calls/{call_id}/cancel")).status_code == 409
    events = (await client.get(f"/tool_calls/{call_id}/events?format=openai")).text
    assert events == (
        'id: 999999999\nevent: message\ndata: {"role":"tool","tool_call_id":"call_1","content":"said hi"}\n\n'
    )


async def test_secrets_do_not_get_there(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the names of fields as in the log, and those that a tool was given wherever they stand."""
    monkeypatch.setenv("PAST_SECRET", 'a "quoted" secret')
    client = await make_client(leak, list_fields, log_redact=("pin",))
    ids = [await call(client, "leak")]
    for fields in ({"a": [{"userPassword": "x"}]}, {"PIN": 4}, {"headers": [{"name": "Authorization", "value": "x"}]}):
        ids.append(await call(client, "list_fields", fields=fields))

    shown = [(await client.get(f"/tool_calls/{call_id}")).json() for call_id in ids]

    assert shown[0]["message"]["content"] == "the key is [redacted]"
    assert [entry["args"].get("fields") for entry in shown[1:]] == [
        {"a": [{"userPassword": "[redacted]"}]},
        {"PIN": "[redacted]"},
        {"headers": [{"name": "Authorization", "value": "[redacted]"}]},
    ]
    assert [json.loads(entry["message"]["content"]) for entry in shown[1:]] == [
        entry["args"]["fields"] for entry in shown[1:]
    ]


async def test_long_values_are_cut(make_client: MakeClient) -> None:
    """Arguments and answers, each by itself; then the call cannot be repeated."""
    client = await make_client(say, list_fields, max_history_value_bytes=50, drain_timeout=0)
    long = await call(client, "say", text="x" * 100)
    wide = await call(client, "list_fields", fields={str(number): number for number in range(50)})

    shown = [(await client.get(f"/tool_calls/{call_id}")).json() for call_id in (long, wide)]

    assert shown[0]["message"]["content"] == f"said {'x' * 45}… 55 more characters"
    assert shown[1]["args"] is None
    again = await client.post(f"/tool_calls/{wide}/replay", json={"insist": True})
    assert (again.status_code, again.json()["type"]) == (410, "urn:sidecall:problem:call-not-kept")


async def test_without_arguments_and_answers(make_client: MakeClient) -> None:
    """`meta` keeps all the rest."""
    client = await make_client(say, history="meta")
    call_id = await call(client, "say", text="hi")

    shown = (await client.get(f"/tool_calls/{call_id}")).json()

    assert (shown["status"], shown["args"], shown["message"]) == ("succeeded", None, None)
    for place in ("replay", "events"):
        method = "POST" if place == "replay" else "GET"
        assert (await client.request(method, f"/tool_calls/{call_id}/{place}")).status_code == 410


async def test_without_a_history(make_client: MakeClient) -> None:
    """`off` keeps nothing, and says so where a summary is asked for."""
    client = await make_client(say, history="off")
    call_id = await call(client, "say", text="hi")

    assert (await client.get(f"/tool_calls/{call_id}")).status_code == 404
    assert await list_ids(client) == []
    refused = await client.get("/tool_calls/summary")
    assert (refused.status_code, refused.json()["type"]) == (404, "urn:sidecall:problem:history-off")


async def test_a_rehearsal_is_no_call(make_client: MakeClient) -> None:
    """Nothing has run."""
    client = await make_client(say)

    await client.post("/tool_calls?dry_run=true", json={"name": "say", "args": {"text": "hi"}, "id": "1"})

    assert await list_ids(client) == []


@pytest.mark.parametrize("is_file", [True, False])
async def test_calls_outlive_the_server_in_a_file(tmp_path: Any, is_file: bool) -> None:
    """What was noted last is written when it ends."""
    place = f"sqlite:///{tmp_path / 'ledger.db'}" if is_file else "memory://"
    found = []
    for _ in range(2):
        app = create_app(Settings(store=place), Registry([say]))
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client,
        ):
            found.append(len(await list_ids(client)))
            await asyncio.gather(*(call(client, "say", text=str(number)) for number in range(3)))

    assert found == [0, 3 if is_file else 0]
    assert (tmp_path / "ledger.history.db").exists() == is_file


async def test_a_secret_that_may_stand_in_a_number_harms_no_call(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number is taken out where it is the secret, and stays where it only holds it; so do `true` and `null`."""
    monkeypatch.setenv("PAST_SECRET", "1234")
    client = await make_client(say, pay)
    ids = [await call(client, "say", text="hi")]
    for fields in ({"amount": 1234567}, {"pin": 1234}, {"text": "12345", "is_new": True, "1234": None}):
        ids.append(await call(client, "pay", fields=fields))
    monkeypatch.setenv("PAST_SECRET", "true")
    ids.append(await call(client, "pay", fields={"is_new": True, "text": "untrue"}))

    listed = (await client.get("/tool_calls")).json()

    assert [entry["id"] for entry in listed] == ids[::-1]
    assert [entry["args"] for entry in listed[::-1]] == [
        {"text": "hi"},
        {"fields": {"amount": 1234567}},
        {"fields": {"pin": "[redacted]"}},
        {"fields": {"text": "[redacted]5", "is_new": True, "[redacted]": None}},
        {"fields": {"is_new": True, "text": "un[redacted]"}},
    ]

"""Calls are counted by several parts at once, and by what is wanted of them, wherever they are kept."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall.features.calls.entry import CallFilter
from sidecall.features.history.memory_store import HistoryBounds
from sidecall.features.history.pending_calls import NotedCall
from sidecall.features.history.rollups import HOUR, SummaryPart
from tests.features.history.made import keep, make_blocks, opened
from tests.features.history.past import add, call, say
from tests.features.history.test_sums import EVER, hour_of, make_calls, value_of
from tests.kit.callers.keys import write_keys
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, send

BY: Sequence[tuple[SummaryPart, ...]] = (
    ("name", "kind"),
    ("kind", "name"),
    ("name", "status", "kind"),
    ("caller", "name"),
    ("hour", "caller", "kind"),
    ("status", "hour"),
    ("name", "status", "kind", "caller", "hour"),
)
WANTED: Sequence[dict[str, Any]] = (
    {},
    {"names": ["say"]},
    {"names": []},
    {"status": "failed"},
    {"kind": "timeout"},
    {"names": ["add", "none"], "status": "cancelled"},
    {"caller": "ann"},
    {"caller": "ann", "kind": "tool_error"},
    {"caller": "nobody"},
)


def choose(calls: Sequence[NotedCall], wanted: dict[str, Any]) -> list[NotedCall]:
    """Choose calls by hand."""
    parts: dict[str, SummaryPart] = {"status": "status", "kind": "kind", "caller": "caller"}
    names = wanted.get("names")
    return [
        call
        for call in calls
        if (names is None or call.tool.name in names)
        and all(value_of(call, parts[name]) == value for name, value in wanted.items() if name in parts)
    ]


async def test_groups_are_those_of_the_calls(store: str) -> None:
    """With the latest call of each; of some hours and of all."""
    calls = make_calls(random.Random(5), 200, 60)
    blocks = make_blocks(store, HistoryBounds(EVER, 10_000, 10_000_000))
    this_hour = int(time.time()) // HOUR
    async with opened(blocks, EVER) as history:
        for start in range(0, 200, 50):
            await keep(blocks, calls[start : start + 50])
        for by in (*BY, ("name",), ("hour",), ("kind",)):
            for wanted in WANTED:
                for hours in ((None, None), (this_hour - 40, this_hour - 3)):
                    since, until = (None if hour is None else float(hour * HOUR) for hour in hours)
                    found = await history.summarize(by, CallFilter("default", since=since, until=until, **wanted))
                    chosen = choose(calls, wanted)
                    chosen = [it for it in chosen if hours[0] is None or hours[0] <= hour_of(it) < (hours[1] or 0)]
                    expected = Counter(tuple(value_of(it, part) for part in by) for it in chosen)
                    counted = {tuple(group.values[part] for part in by): group for group in found.groups}
                    assert {key: group.calls for key, group in counted.items()} == expected, (by, wanted, hours)
                    assert found.total.calls == len(chosen)
                    assert found.total.errors == sum(it.outcome != "success" for it in chosen)
                    for key, group in counted.items():
                        latest = max(it.id for it in chosen if tuple(value_of(it, part) for part in by) == key)
                        assert group.example_id == latest
                        assert group.last_at is not None
                        assert int(group.last_at.timestamp()) // HOUR == hour_of_id(latest, calls)


def hour_of_id(call_id: str, calls: Sequence[NotedCall]) -> int:
    """Return the hour of a call."""
    return next(hour_of(it) for it in calls if it.id == call_id)


Ask = Callable[[str], Any]


def asking(client: httpx.AsyncClient, **headers: str) -> Ask:
    """Return what asks for the groups of a summary."""

    async def ask(query: str) -> list[Any]:
        answer = await client.get(f"/tool_calls/summary?{query}", headers=headers)
        assert answer.status_code == 200, answer.text
        return [(*group["values"].values(), group["calls"]) for group in answer.json()["groups"]]

    return ask


async def test_a_summary_has_several_parts(make_client: MakeClient, store: str) -> None:
    """Of plain and remembered calls; its groups name the latest of their calls."""
    client = await make_client(say, add, store=store)
    ids = [await call(client, "say", text=text) for text in ("a", "bad", "bad")]
    ids.append((await send(client, "add", headers={**ASYNC, "Prefer": "wait=10"}, a=1, b=2)).json()["id"])
    ids.append(await call(client, "add", a="x", b=2))
    ask = asking(client)
    both = [
        ("say", "tool_error", 2),
        ("add", None, 1),
        ("add", "invalid_arguments", 1),
        ("say", None, 1),
    ]

    assert await ask("by=name,kind") == await ask("by=name&by=kind") == await ask("by=name,kind,name") == both
    assert await ask("by=kind,name&name=say") == [("tool_error", "say", 2), (None, "say", 1)]
    assert await ask("by=name&status=failed") == [("say", 2), ("add", 1)]
    assert await ask("by=kind&name=say&name=add") == [("tool_error", 2), ("invalid_arguments", 1), (None, 2)]
    assert await ask("by=status&kind=tool_error&tag=speech") == [("failed", 2)]
    assert await ask("by=name&tag=nothing") == await ask("by=name,kind&caller=nobody") == []
    found = (await client.get("/tool_calls/summary?by=name,kind")).json()
    groups = {(group["values"]["name"], group["values"]["kind"]): group for group in found["groups"]}
    assert (found["by"], groups["say", None]["value"]) == ("name,kind", None)
    assert {key: group["example_id"] for key, group in groups.items()} == {
        ("say", None): ids[0],
        ("say", "tool_error"): ids[2],
        ("add", None): ids[3],
        ("add", "invalid_arguments"): ids[4],
    }
    entry = (await client.get(f"/tool_calls/{groups['add', None]['example_id']}")).json()
    assert groups["add", None]["last_at"][:16] == entry["created_at"][:16]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("by=", "by"),
        ("by=name,", "by"),
        ("by=tool", "by"),
        ("by=name,tool", "by"),
        ("by=name;kind", "by"),
        ("names=say", "names"),
        ("conversation=c", "conversation"),
        ("status=done", "status"),
    ],
)
async def test_what_cannot_be_counted_by_is_refused(make_client: MakeClient, query: str, why: str) -> None:
    """Rather than ignored."""
    client = await make_client(say)

    refused = await client.get(f"/tool_calls/summary?{query}")

    assert refused.status_code == 422
    assert why in refused.json()["detail"]


async def test_who_may_not_read_all_sees_what_is_theirs(make_client: MakeClient, store: str, tmp_path: Path) -> None:
    """Lists, summaries and conversations of their own calls; one by one those of others are not there."""
    keys = {"ann": ("tools:call",), "bob": ("tools:call",), "eve": ("calls:read",)}
    headers = write_keys(tmp_path / "keys.json", keys)
    client = await make_client(say, store=store, auth="api_key", keys_file=tmp_path / "keys.json")
    ids = {}
    for who, texts in (("ann", ("a", "bad")), ("bob", ("bad",))):
        chat = {**headers[who], "Sidecall-Conversation": f"chat-{who}"}
        for text in texts:
            sent = {"name": "say", "args": {"text": text}, "id": "1"}
            ids[who, text] = (await client.post("/tool_calls", json=sent, headers=chat)).json()["id"]

    async def read(who: str, path: str) -> Any:
        answer = await client.get(path, headers=headers[who])
        return answer.json() if answer.status_code == 200 else answer.status_code

    async def groups(who: str, query: str) -> Any:
        return await asking(client, **headers[who])(query)

    assert await groups("ann", "by=name,kind") == [("say", None, 1), ("say", "tool_error", 1)]
    assert await groups("bob", "by=name") == [("say", 1)]
    assert await groups("bob", "by=caller") == [("bob", 1)]
    assert await groups("bob", "by=caller&caller=ann") == []
    assert await groups("eve", "by=caller,kind") == [
        ("ann", None, 1),
        ("ann", "tool_error", 1),
        ("bob", "tool_error", 1),
    ]
    assert [it["id"] for it in await read("ann", "/tool_calls?status=failed")] == [ids["ann", "bad"]]
    assert [it["id"] for it in await read("ann", "/conversations")] == ["chat-ann"]
    for path in (f"/tool_calls/{ids['bob', 'bad']}", "/conversations/chat-bob"):
        assert await read("ann", path) == 404
        assert await read("bob", path) != 404
        assert await read("eve", path) != 404

"""Calls are counted by several parts at once, and by what is wanted of them, wherever they are kept."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from sidecall.features.history.memory_store import HistoryBounds
from sidecall.features.history.pending_calls import NotedCall
from sidecall.features.history.rollups import HOUR, SummaryPart
from sidecall.kernel.ports.call_entry import CallFilter
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
        for by, wanted in product((*BY, ("name",), ("hour",), ("kind",)), WANTED):
            for first, before in ((0, 10**6), (this_hour - 40, this_hour - 3)):
                asked = CallFilter("default", since=first * HOUR, until=before * HOUR, **wanted)
                found = await history.summarize(by, asked)
                chosen = [it for it in choose(calls, wanted) if first <= hour_of(it) < before]
                counted = {tuple(group.values[part] for part in by): group for group in found.groups}
                expected = Counter(tuple(value_of(it, part) for part in by) for it in chosen)
                assert {key: group.calls for key, group in counted.items()} == expected, asked
                assert {key: group.example_id for key, group in counted.items()} == find_latest(chosen, by)
                failed = sum(it.outcome != "success" for it in chosen)
                assert (found.total.calls, found.total.errors) == (len(chosen), failed)


def find_latest(calls: Sequence[NotedCall], by: Sequence[SummaryPart]) -> dict[tuple[str | None, ...], str]:
    """Find the latest call of each group by hand."""
    return {tuple(value_of(it, part) for part in by): it.id for it in sorted(calls, key=lambda it: it.id)}


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


class People(NamedTuple):
    """A client, what each sends to be known, and ids of calls by who has sent them and what."""

    client: httpx.AsyncClient
    headers: dict[str, dict[str, str]]
    ids: dict[tuple[str, str], str]

    async def read(self, who: str, path: str) -> Any:
        """Return what somebody is answered, or with which status they are refused."""
        answer = await self.client.get(path, headers=self.headers[who])
        return answer.json() if answer.status_code == 200 else answer.status_code

    async def count(self, who: str, query: str) -> list[Any]:
        """Return the groups of a summary that somebody sees."""
        groups: list[Any] = await asking(self.client, **self.headers[who])(query)
        return groups


@pytest.fixture
async def people(make_client: MakeClient, store: str, tmp_path: Path) -> People:
    """Two who may call, and one who may read their three calls."""
    keys = {"ann": ("tools:call",), "bob": ("tools:call",), "eve": ("calls:read",)}
    headers = write_keys(tmp_path / "keys.json", keys)
    client = await make_client(say, store=store, auth="api_key", keys_file=tmp_path / "keys.json")
    ids = {}
    for who, text in (("ann", "a"), ("ann", "bad"), ("bob", "bad")):
        sent = {"name": "say", "args": {"text": text}, "id": "1"}
        chat = {**headers[who], "Sidecall-Conversation": f"chat-{who}"}
        ids[who, text] = (await client.post("/tool_calls", json=sent, headers=chat)).json()["id"]
    return People(client, headers, ids)


async def test_a_summary_is_of_ones_own_calls(people: People) -> None:
    """For all who may not read those of others."""
    assert await people.count("ann", "by=name,kind") == [("say", None, 1), ("say", "tool_error", 1)]
    assert await people.count("bob", "by=name") == [("say", 1)]
    assert await people.count("bob", "by=caller") == [("bob", 1)]
    assert await people.count("bob", "by=caller&caller=ann") == []
    assert await people.count("eve", "by=caller,kind") == [
        ("ann", None, 1),
        ("ann", "tool_error", 1),
        ("bob", "tool_error", 1),
    ]


async def test_lists_are_of_ones_own_calls(people: People) -> None:
    """And one by one those of others are not there."""
    assert [it["id"] for it in await people.read("ann", "/tool_calls?status=failed")] == [people.ids["ann", "bad"]]
    assert [it["id"] for it in await people.read("ann", "/conversations")] == ["chat-ann"]
    for path in (f"/tool_calls/{people.ids['bob', 'bad']}", "/conversations/chat-bob"):
        assert await people.read("ann", path) == 404
        assert await people.read("bob", path) != 404
        assert await people.read("eve", path) != 404

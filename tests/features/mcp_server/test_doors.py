"""By each door a call has the same limits, leaves the same record, and is let in or not alike."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import permutations
from pathlib import Path

import httpx
import pytest

from sidecall import tool
from tests.features.mcp_server.messages import META, ask, head
from tests.kit.callers.keys import write_keys
from tests.kit.clients import MakeClient

FastPath = Callable[..., Awaitable[httpx.Response]]


async def _as_call(client: httpx.AsyncClient, name: str, **args: str) -> httpx.Response:
    return await client.post("/tool_calls", json={"name": name, "args": args})


async def _as_operation(client: httpx.AsyncClient, name: str, **args: str) -> httpx.Response:
    return await client.post(f"/tools/{name}/call", json=args)


async def _over_mcp(client: httpx.AsyncClient, name: str, **args: str) -> httpx.Response:
    return await ask(client, "tools/call", name=name, arguments=args)


async def _over_mcp_plainly(client: httpx.AsyncClient, name: str, **args: str) -> httpx.Response:
    params = {"name": name, "arguments": args, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return await client.post("/mcp", json=message, headers=head(message))


DOORS: dict[str, FastPath] = {
    "call": _as_call,
    "operation": _as_operation,
    "mcp": _over_mcp,
    "plain mcp": _over_mcp_plainly,
}
WORDS = (
    "nothing in in",
    "this server serves nobody without one",
    "read_mail is not a valid tool; there are none",
    "This takes the scope `tools:call`, which you do not have.",
)


@tool(tags=["mail"], scopes=("mail",))
async def read_mail(folder: str) -> str:
    """Read mail."""
    return f"nothing in {folder}"


@pytest.mark.parametrize(("first", "second"), [*permutations(DOORS, 2)])
async def test_there_is_one_place_for_calls(make_client: MakeClient, first: str, second: str) -> None:
    """A call that comes by another door finds it taken."""
    is_running, is_over = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        is_running.set()
        await is_over.wait()
        return "done"

    client = await make_client(wait, max_concurrency=1, max_queue=0)
    running = asyncio.ensure_future(DOORS[first](client, "wait"))
    await is_running.wait()
    refused = await DOORS[second](client, "wait")
    is_over.set()

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert "overloaded" in refused.text
    assert (await running).status_code == 200


# What a history has of the call, but for what is made anew for each.
ROW = {
    "name": "read_mail",
    "status": "succeeded",
    "kind": None,
    "caller": "ann",
    "is_durable": False,
    "attempt": 1,
    "tags": ["mail"],
    "args": {"folder": "in"},
    "approval_id": None,
    "decided_by": None,
    "decided_at": None,
    "reason": None,
    "asked_args": None,
    "replay_of": None,
    "cost": 0.0,
    "conversation_id": None,
    "trace_id": None,
    "progress": None,
    "worker": None,
    "attempts": 1,
    "queue_ms": 0.0,
}


@pytest.mark.parametrize("door", DOORS)
async def test_a_call_is_recorded_alike(make_client: MakeClient, tmp_path: Path, door: str) -> None:
    """But for what is made anew for each call."""
    headers = write_keys(tmp_path / "keys", {"ann": ("*",)}, "acme")["ann"]
    client = await make_client(read_mail, auth="api_key", keys_file=str(tmp_path / "keys"))
    client.headers.update(headers)

    answer = await DOORS[door](client, "read_mail", folder="in")
    (row,) = (await client.get("/tool_calls")).json()

    assert (answer.status_code, "nothing in in" in answer.text) == (200, True)
    for name in ("id", "tool_call_id", "created_at", "started_at", "ended_at", "duration_ms", "request_id"):
        del row[name]
    assert row == ROW


@pytest.mark.parametrize("door", DOORS)
async def test_who_is_let_in_does_not_depend_on_the_door(make_client: MakeClient, tmp_path: Path, door: str) -> None:
    """Nor whether a tool is there for somebody; only the words for it are the door's."""
    scopes = {"all": ("tools:call", "mail"), "callers": ("tools:call",), "readers": ("mail",)}
    known = {"nobody": {}, **write_keys(tmp_path / "keys", scopes)}
    client = await make_client(read_mail, auth="api_key", keys_file=str(tmp_path / "keys"))
    found = {}
    for subject, headers in known.items():
        client.headers.pop("Authorization", None)
        client.headers.update(headers)
        answer = await DOORS[door](client, "read_mail", folder="in")
        said = [words for words in WORDS if words in answer.text]
        found[subject] = (answer.headers.get("www-authenticate"), said)

    assert found == {
        "nobody": ('Bearer realm="sidecall"', ["this server serves nobody without one"]),
        "all": (None, ["nothing in in"]),
        "callers": (None, ["read_mail is not a valid tool; there are none"]),
        "readers": (
            'Bearer realm="sidecall", error="insufficient_scope", scope="tools:call"',
            ["This takes the scope `tools:call`, which you do not have."],
        ),
    }

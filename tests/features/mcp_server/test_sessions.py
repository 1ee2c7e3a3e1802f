"""Clients of the earlier revisions cancel calls within sessions."""

import asyncio
from typing import Any

import httpx
import pytest

from sidecall import Caller, ToolContext, tool
from sidecall.features.mcp_server.revisions import RpcError
from sidecall.features.mcp_server.sessions import Sessions
from tests.features.mcp_server.messages import BEFORE, ask, ask_as_before
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient
from tests.kit.waiting import until

ADA, BOB = Caller("ada"), Caller("bob")
ENDS: list[str] = []
BEGUN: list[str] = []


@tool
async def wait(name: str, context: ToolContext) -> str:
    """Wait until somebody cancels."""
    BEGUN.append(name)
    context.report_progress(1, 2)
    try:
        await asyncio.Event().wait()
    finally:
        ENDS.append(name)
    return name


@pytest.fixture(autouse=True)
def _nothing_has_run() -> None:
    ENDS.clear()
    BEGUN.clear()


async def begin(client: httpx.AsyncClient, **headers: str) -> dict[str, str]:
    """Begin a session, and return the headers of what is sent in it."""
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": BEFORE}}
    answer = await client.post("/mcp", json=message, headers=headers)
    return {**headers, "MCP-Protocol-Version": BEFORE, "Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}


async def call(client: httpx.AsyncClient, session: dict[str, str], name: str, **meta: Any) -> asyncio.Task[Any]:
    """Call the tool that waits, under an id that is its argument, until it has begun."""
    params = {"name": "wait", "arguments": {"name": name}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}
    task = asyncio.ensure_future(client.post("/mcp", json=message, headers=session))
    await until(lambda: name in BEGUN)
    return task


async def cancel(client: httpx.AsyncClient, session: dict[str, str], request_id: Any) -> int:
    """Say that a call is cancelled, and return the status."""
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
    return (await client.post("/mcp", json=message, headers=session)).status_code


@BOTH_WAYS
async def test_a_call_is_cancelled_by_its_id(make_client: MakeClient) -> None:
    """And no other; nor by who has not begun the session, or names what is no id."""
    client = await make_client(wait)
    mine, other = await begin(client), await begin(client)
    first, second = await call(client, mine, "a"), await call(client, mine, "b", progressToken=1)

    statuses = [await cancel(client, *it) for it in ((other, "a"), (mine, "c"), (mine, {}), (mine, "a"))]
    answer = await first
    before = list(ENDS)
    await cancel(client, mine, "b")
    streamed = await second

    assert (statuses, before, ENDS) == ([202] * 4, ["a"], ["a", "b"])
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32800)
    assert (streamed.headers["content-type"], "result" in streamed.text) == ("text/event-stream", False)
    assert '"code":-32800' in streamed.text.split("event: message")[-1]


@BOTH_WAYS
async def test_a_session_that_has_ended_is_not_known(make_client: MakeClient) -> None:
    """What ran in it is cancelled."""
    client = await make_client(wait)
    session = await begin(client)
    running = await call(client, session, "a")

    ended = await client.delete("/mcp", headers=session)
    await running
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    after = [
        await client.delete("/mcp", headers=session),
        await client.post("/mcp", json=ping, headers=session),
        await client.get("/mcp", headers={**session, "Accept": "text/event-stream"}),
    ]

    assert (ended.status_code, ENDS) == (204, ["a"])
    assert [answer.status_code for answer in after] == [404, 404, 404]
    assert after[1].json()["error"]["message"] == "There is no such session, or not any more: initialize anew."


async def test_a_session_is_its_callers(make_client: MakeClient) -> None:
    """To others it does not exist."""
    client = await make_client(wait, caller_header="X-Caller")
    session = await begin(client, **{"X-Caller": "ada"})
    running = await call(client, session, "a")

    foreign = await cancel(client, {**session, "X-Caller": "bob"}, "a")
    own = await cancel(client, session, "a")
    await running

    assert (foreign, own) == (404, 202)


async def test_modern_requests_know_no_sessions(make_client: MakeClient) -> None:
    """What they name is not looked for."""
    client = await make_client(wait)
    client.headers["Mcp-Session-Id"] = "none"

    assert (await ask(client, "tools/list")).status_code == 200
    assert (await ask_as_before(client, "tools/list")).status_code == 404


@pytest.mark.parametrize("settings", [{"mcp_sessions": False}, {"workers": 2}])
async def test_without_sessions_none_is_given_or_looked_for(make_client: MakeClient, settings: dict[str, Any]) -> None:
    """With several workers another one may have begun it."""
    client = await make_client(wait, **settings)

    began = await ask_as_before(client, "initialize", protocolVersion=BEFORE)
    named = await client.post(
        "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers={"Mcp-Session-Id": "any"}
    )

    assert ("Mcp-Session-Id" in began.headers, named.status_code) == (False, 200)


@BOTH_WAYS
async def test_what_runs_is_not_cancelled_by_sessions_that_begin(make_client: MakeClient) -> None:
    """A caller, or all who have no credentials, may begin any number; the client that waits has its session still."""
    client = await make_client(wait)
    session = await begin(client)
    plain, streamed = await call(client, session, "a"), await call(client, session, "b", progressToken=1)

    for _ in range(1001):
        await begin(client)
    before = list(ENDS)
    told = [await cancel(client, session, it) for it in ("a", "b")]
    await asyncio.gather(plain, streamed)

    assert (before, told, sorted(ENDS)) == ([], [202, 202], ["a", "b"])


def test_the_one_longest_unused_ends_where_there_is_no_room() -> None:
    """A caller who begins too many ends its own."""
    sessions = Sessions(most=3, most_of_caller=2)
    first, second = (_begin(sessions, ADA) for _ in range(2))
    sessions.find(first, ADA)
    other = _begin(sessions, BOB)

    third = _begin(sessions, ADA)
    assert [_knows(sessions, it, ADA) for it in (first, second, third)] == [True, False, True]

    sessions.begin(Caller("eve"))
    assert [_knows(sessions, it, who) for it, who in ((other, BOB), (first, ADA), (third, ADA))] == [False, True, True]
    assert len(sessions) == 3


@pytest.mark.parametrize(("most", "who"), [(3, ADA), (2, BOB)])
def test_what_is_used_just_now_does_not_end_for_a_new_one(most: int, who: Caller) -> None:
    """Those that begin end idle ones, however lately they were used; where there are none, no session is given."""
    sessions = Sessions(most=most, most_of_caller=2)
    busy, idle = _begin(sessions, ADA), _begin(sessions, ADA)
    cancelled: list[int] = []

    with sessions.use(sessions.find(busy, ADA), 1, lambda: cancelled.append(1)):
        sessions.find(idle, ADA)
        third = _begin(sessions, who)
        known = [_knows(sessions, it, owner) for it, owner in ((busy, ADA), (idle, ADA), (third, who))]
        with sessions.use(sessions.find(third, who)):
            assert sessions.begin(who) is None

    assert (known, cancelled, len(sessions)) == ([True, False, True], [], 2)
    assert sessions.begin(who) is not None


def test_what_nobody_uses_is_forgotten_unless_something_runs_in_it() -> None:
    """After an hour, which begins anew when something that ran has ended, however long it took."""
    now = [0.0]
    sessions = Sessions(clock=lambda: now[0])
    idle, busy = (_begin(sessions, ADA) for _ in range(2))

    with sessions.use(sessions.find(busy, ADA), 1, lambda: None):
        now[0] = 3601.0
        during = [_knows(sessions, it, ADA) for it in (idle, busy)]
        now[0] = 9000.0
    now[0] = 12_000.0
    after = _knows(sessions, busy, ADA)
    now[0] = 15_601.0

    assert (during, after, _knows(sessions, busy, ADA)) == ([False, True], True, False)


def _begin(sessions: Sessions, caller: Caller) -> bytes:
    session_id = sessions.begin(caller)
    assert session_id is not None
    return session_id.encode()


def _knows(sessions: Sessions, session_id: bytes, caller: Caller) -> bool:
    try:
        sessions.find(session_id, caller)
    except RpcError:
        return False
    return True

"""Callers are told apart by the header of a gateway, on both ways, wherever it matters who they are."""

import asyncio
from typing import Any

import httpx
import pytest

from sidecall import BaseTool, Caller, Registry, ToolContext, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import BOTH_WAYS, JSON, exchange, scope_of
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.kit.events import events_in

HEADER = "X-Consumer-Username"
ANN, BOB = {HEADER: "ann"}, {HEADER: "bob"}
TWO = [(HEADER.encode(), b"ann"), (HEADER.encode(), b"bob")]


@tool
async def who(context: ToolContext) -> str:
    """Say who calls."""
    return context.caller.subject


@tool(executor="process")
def who_apart(context: ToolContext) -> str:
    """Say who calls, from another process."""
    return context.caller.subject


@tool(is_enabled=lambda caller: caller.subject == "ann")
async def for_ann() -> str:
    """Be there for one."""
    return "ann's"


@tool(requires_approval=lambda context, _args, _call_id: context.caller.subject != "ann")
async def guarded(context: ToolContext) -> str:
    """Wait for a person, unless one calls."""
    return context.caller.subject


async def _content(client: httpx.AsyncClient, headers: Any, name: str = "who") -> str:
    return str((await client.post("/tool_calls", json=write_call(name), headers=headers)).json()["content"])


@BOTH_WAYS
@pytest.mark.parametrize(
    ("headers", "subject"),
    [
        ({HEADER: "ann"}, "ann"),
        ({HEADER.lower(): "ann"}, "ann"),
        ({HEADER: "Jürgen".encode()}, "Jürgen"),
        ({}, "anonymous"),
        ({HEADER: ""}, "anonymous"),
        ({"X-Forwarded-User": "ann"}, "anonymous"),
    ],
)
async def test_a_tool_hears_who_calls(make_client: MakeClient, headers: dict[str, Any], subject: str) -> None:
    """What the header says; a caller without a name is anonymous."""
    client = await make_client(who, caller_header=HEADER)

    assert await _content(client, headers) == subject


@BOTH_WAYS
async def test_without_the_setting_all_are_one(make_client: MakeClient) -> None:
    """No header counts, since no gateway says it."""
    client = await make_client(who)

    assert await _content(client, ANN) == "anonymous"


async def test_a_tool_in_a_process_hears_who_calls(make_client: MakeClient) -> None:
    """It crosses."""
    client = await make_client(who_apart, caller_header=HEADER, processes=1)

    assert await _content(client, ANN, "who_apart") == "ann"


@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls/batch"])
async def test_events_are_of_who_calls(make_client: MakeClient, path: str) -> None:
    """As everything is."""
    client = await make_client(who, caller_header=HEADER)
    body = write_call("who") if path == "/tool_calls" else [write_call("who")]

    response = await client.post(path, json=body, headers={**ANN, "Accept": "text/event-stream"})

    assert [(name, said["content"]) for name, said in events_in(response.text)] == [("message", "ann")]


@BOTH_WAYS
@pytest.mark.parametrize(
    "values", [("a" * 257,), ("a\tb",), ("ann", "bob"), (b"\xff",)], ids=["long", "unprintable", "two", "not UTF-8"]
)
async def test_who_is_not_named_for_certain_is_refused(make_client: MakeClient, values: tuple[Any, ...]) -> None:
    """400, before anything is run; what was sent is not shown."""
    client = await make_client(who, for_ann, caller_header=HEADER)
    headers = [(HEADER.encode(), value if isinstance(value, bytes) else value.encode()) for value in values]

    refused = [
        await client.post("/tool_calls", json=write_call("who"), headers=headers),
        await client.post("/tool_calls/batch", json=[write_call("who")], headers=headers),
        await client.post("/tool_calls", json=write_call("who"), headers=[*headers, (b"Accept", b"text/event-stream")]),
        await client.post(
            "/tool_calls/batch", json=[write_call("who")], headers=[*headers, (b"Accept", b"text/event-stream")]
        ),
        await client.get("/tools", headers=headers),
        await client.get("/tools/who", headers=headers),
        await client.post("/approvals/none", json={"decision": "approve"}, headers=headers),
    ]

    assert [answer.status_code for answer in refused] == [400] * 7
    assert {answer.json()["type"] for answer in refused} == {"urn:sidecall:problem:invalid-caller"}
    assert {answer.headers["Content-Type"] for answer in refused} == {"application/problem+json"}


@BOTH_WAYS
async def test_callers_never_see_the_listings_of_others(make_client: MakeClient) -> None:
    """Where a tool asks who they are, nothing is remembered of the first caller, and an ETag is of one's own list."""
    client = await make_client(who, for_ann, caller_header=HEADER)

    answers = [await client.get("/tools", headers=headers) for headers in (ANN, BOB, {}, ANN, BOB)]
    known = await client.get("/tools", headers={**BOB, "If-None-Match": answers[0].headers["ETag"]})
    names = [[offered["function"]["name"] for offered in answer.json()] for answer in (*answers, known)]

    assert names == [["who", "for_ann"], ["who"], ["who"], ["who", "for_ann"], ["who"], ["who"]]


@BOTH_WAYS
async def test_a_tool_of_another_is_unknown(make_client: MakeClient) -> None:
    """It is not shown, cannot be called, and is not named to who guesses."""
    client = await make_client(who, for_ann, caller_header=HEADER)

    shown = [(await client.get("/tools/for_ann", headers=headers)).status_code for headers in (ANN, BOB, {})]

    assert shown == [200, 404, 404]
    assert await _content(client, ANN, "for_ann") == "ann's"
    assert await _content(client, BOB, "for_ann") == "Error: for_ann is not a valid tool, try one of [who]."


@pytest.mark.parametrize(("tools", "is_remembered"), [([who], True), ([who, for_ann], False)])
async def test_a_listing_that_is_the_same_for_all_is_remembered(tools: list[BaseTool], is_remembered: bool) -> None:
    """Telling callers apart does not make it slow."""
    app = create_app(Settings(caller_header=HEADER), Registry(tools))
    await exchange(app, scope_of("GET", "/tools", [(HEADER.lower(), "ann")]))

    assert (app.state.parts.listings.pages.find(b"") is not None) is is_remembered


@BOTH_WAYS
async def test_a_remembered_listing_is_for_known_callers_only(make_client: MakeClient) -> None:
    """Who calls is settled before anything is answered."""
    client = await make_client(who, caller_header=HEADER)

    statuses = [(await client.get("/tools", headers=headers)).status_code for headers in (ANN, TWO, BOB, TWO)]

    assert statuses == [200, 400, 200, 400]


@BOTH_WAYS
@pytest.mark.parametrize("path", ["/approvals", "/approvals/none", "/artifacts/none", "/nowhere"])
async def test_nothing_is_read_by_who_is_not_named_for_certain(make_client: MakeClient, path: str) -> None:
    """Not even that it is not there; with an id to ask about it."""
    client = await make_client(who, caller_header=HEADER)

    response = await client.get(path, headers=[*TWO, (b"X-Request-Id", b"mine-1")])

    assert (response.status_code, response.json()["type"]) == (400, "urn:sidecall:problem:invalid-caller")
    assert (response.json()["instance"], response.headers["X-Request-Id"]) == ("mine-1", "mine-1")


@BOTH_WAYS
@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/metrics", "/docs", "/docs/assets/swagger-ui.css", "/openapi.json"]
)
async def test_probes_do_not_ask_who_calls(make_client: MakeClient, path: str) -> None:
    """A header that is wrong makes none of them fail."""
    client = await make_client(who, caller_header=HEADER)

    response = await client.get(path, headers=TWO, follow_redirects=True)

    assert response.status_code == 200


@BOTH_WAYS
async def test_approvals_name_those_who_asked_and_decided(make_client: MakeClient) -> None:
    """And the policy knows who asks; an approved call runs in the name of who asked."""
    client = await make_client(guarded, caller_header=HEADER)

    at_once = await _content(client, ANN, "guarded")
    waiting = await client.post("/tool_calls", json=write_call("guarded"), headers=BOB)
    decided = await client.post(waiting.headers["Location"], json={"decision": "approve"}, headers=ANN)

    assert (at_once, waiting.json()["requested_by"]) == ("ann", "bob")
    assert (decided.json()["decided_by"], decided.json()["message"]["content"]) == ("ann", "bob")


@BOTH_WAYS
async def test_the_same_call_of_two_callers_is_two_approvals(make_client: MakeClient) -> None:
    """One may not take what a person has granted to the other."""
    client = await make_client(guarded, caller_header=HEADER)

    asked = [
        await client.post("/tool_calls", json=write_call("guarded"), headers=headers) for headers in (BOB, {}, BOB)
    ]
    first, other, again = [answer.json()["id"] for answer in asked]

    assert (first == other, first == again) == (False, True)


@BOTH_WAYS
async def test_each_caller_has_a_quota_of_its_own(make_client: MakeClient) -> None:
    """Callers without a name share one."""
    client = await make_client(who, caller_header=HEADER, rate_limit="2/hour")

    answers = [
        await client.post("/tool_calls", json=write_call("who"), headers=headers)
        for headers in (ANN, ANN, ANN, BOB, {}, {HEADER: " "}, {})
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 429, 200, 200, 200, 429]


@BOTH_WAYS
async def test_each_caller_runs_so_many_calls_at_once(make_client: MakeClient) -> None:
    """One who runs as many as one may does not stand in another's way."""
    release = asyncio.Event()
    begun: asyncio.Queue[str] = asyncio.Queue()

    @tool
    async def hold(context: ToolContext) -> str:
        """Wait for a word."""
        begun.put_nowait(context.caller.subject)
        await release.wait()
        return context.caller.subject

    client = await make_client(hold, caller_header=HEADER, max_concurrency_per_caller=1)
    running = [asyncio.ensure_future(_content(client, headers, "hold")) for headers in (ANN, BOB)]
    await begun.get(), await begun.get()
    refused = await client.post("/tool_calls", json=write_call("hold"), headers=ANN)
    release.set()

    assert (refused.status_code, refused.json()["type"]) == (429, "urn:sidecall:problem:too-many-calls")
    assert await asyncio.gather(*running) == ["ann", "bob"]


async def test_predicates_are_asked_about_the_caller() -> None:
    """With what the header says, and nothing of what the client claims elsewhere."""
    seen: list[Caller] = []

    @tool(is_enabled=lambda caller: not seen.append(caller))
    async def watched() -> None:
        """Be there for all."""

    app = create_app(Settings(caller_header=HEADER), Registry([watched]))
    peer = await exchange(app, scope_of("GET", "/tools", [JSON, (HEADER.lower(), "ann"), ("x-tenant", "acme")]))

    assert (peer.status, seen) == (200, [Caller("ann", "default", frozenset("*"))])

"""Callers prove who they are, and do what their scopes allow and nothing else, on both ways."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry, ToolContext, tool
from sidecall.composition.features import load_features
from sidecall.main import create_app
from sidecall.rest.route_table import Permissions
from sidecall.settings import Settings
from tests.kit.asgi import BOTH_WAYS
from tests.kit.callers.keys import write_keys
from tests.kit.callers.requests import BY_LINK, REQUESTS
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient

SCOPES = {
    "agent": ("tools:call",),
    "clerk": ("tools:call", "orders:write"),
    "auditor": ("calls:read",),
    "boss": ("tools:call", "approvals:decide"),
    "chief": ("tools:call", "approvals:decide", "approvals:decide_own"),
    "operator": ("server:operate",),
    "keeper": ("calls:read", "server:operate"),
    "root": ("*",),
    "nobody": (),
}


@tool
async def who(context: ToolContext) -> dict[str, Any]:
    """Say who calls."""
    caller = context.caller
    secrets = [name for name in ("authorization", "x-api-key") if name in context.headers]
    return {"subject": caller.subject, "scopes": sorted(caller.scopes), "secrets": secrets}


@tool(scopes=["orders:write"])
async def write_order() -> str:
    """Write an order."""
    return "written"


@tool(scopes=["orders:write"], idempotency="tool_call_id")
async def pay_order() -> str:
    """Pay an order."""
    return "paid"


@tool(requires_approval=True)
async def delete_order() -> str:
    """Delete an order."""
    return "deleted"


TOOLS = (who, write_order, pay_order, delete_order)


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, dict[str, str]]:
    """Give a key to each caller."""
    return write_keys(tmp_path / "keys.jsonl", SCOPES)


@pytest.fixture
async def client(make_client: MakeClient, keys: dict[str, dict[str, str]], tmp_path: Path) -> httpx.AsyncClient:
    """Give a client of a server that asks for keys."""
    return await make_client(*TOOLS, auth=("api_key",), keys_file=tmp_path / "keys.jsonl")


def test_every_request_has_its_scope() -> None:
    """As the list of permissions has it."""
    find_scope = Permissions(route for it in load_features(use_entry_points=False) for route in it.routes).find_scope

    assert [find_scope(method, path) for method, path, _ in REQUESTS] == [scope for *_, scope in REQUESTS]


@pytest.mark.parametrize(("method", "path"), BY_LINK)
async def test_where_persons_sign_in_a_credential_counts_for_nothing(
    client: httpx.AsyncClient, keys: dict[str, dict[str, str]], method: str, path: str
) -> None:
    """Their browsers have none: what a request may do there is in its sealed link; other methods are not served."""
    wrong = {"Authorization": "Bearer sidecall_wrong"}
    senders = ({}, wrong, keys["nobody"], keys["root"])
    answers = [await client.request(method, path, headers=headers) for headers in senders]

    assert [answer.status_code for answer in answers] == [404] * 4
    assert (await client.delete(path)).status_code == 405
    assert (await client.get(f"{path}/more")).status_code == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/docs", "/openapi.json", "/docs/assets/swagger-ui.css"])
async def test_probes_and_the_page_are_for_everybody(client: httpx.AsyncClient, path: str) -> None:
    """They tell nothing of what is served."""
    response = await client.get(path, headers={"Authorization": "Bearer wrong"})

    assert response.status_code == 200
    assert "write_order" not in response.text


async def test_whoever_may_not_operate_is_told_of_readiness_alone(
    client: httpx.AsyncClient, keys: dict[str, dict[str, str]]
) -> None:
    """An orchestrator's probe has no key, and how many tools there are is nobody else's business."""
    senders = ({}, {"Authorization": "Bearer sidecall_wrong"}, keys["agent"], keys["operator"])
    answers = [(await client.get("/readyz", headers=headers)).json() for headers in senders]

    assert answers == [*({"status": "ready"},) * 3, {"status": "ready", "tools": 4}]


@pytest.mark.parametrize("path", ["/tool_calls/", "/nothing", "/tool_calls%2Fexport", "/docs/../tools"])
async def test_no_other_spelling_of_a_path_gets_past(client: httpx.AsyncClient, path: str) -> None:
    """Without a credential all are the same."""
    assert (await client.get(path, follow_redirects=True)).status_code == 401


async def test_the_document_says_what_each_request_takes(client: httpx.AsyncClient) -> None:
    """A credential, and its scope; nothing of it where nobody has to prove anything."""
    document = (await client.get("/openapi.json")).json()
    open_document = create_app(Settings(), Registry()).openapi()

    assert document["paths"]["/approvals"]["get"]["security"] == [
        {"bearer": ["approvals:decide"]},
        {"apiKey": ["approvals:decide"]},
    ]
    assert document["paths"]["/healthz"]["get"]["security"] == []
    assert "security" not in open_document["paths"]["/whoami"]["get"]
    assert document["components"]["securitySchemes"].keys() == {"bearer", "apiKey"}


@BOTH_WAYS
async def test_a_tool_hears_who_calls_and_not_the_key(
    client: httpx.AsyncClient, keys: dict[str, dict[str, str]]
) -> None:
    """Subject and scopes; what proves them is nobody's business behind the door."""
    response = await client.post("/tool_calls", json=write_call("who"), headers=keys["clerk"])

    said = {"subject": "clerk", "scopes": ["orders:write", "tools:call"], "secrets": []}
    assert httpx.Response(200, text=response.json()["content"]).json() == said


async def test_whoami_says_who_one_is(
    client: httpx.AsyncClient, keys: dict[str, dict[str, str]], make_client: MakeClient
) -> None:
    """Where nobody is asked, one is anonymous and may do everything."""
    known = (await client.get("/whoami", headers=keys["boss"])).json()
    unasked = (await (await make_client()).get("/whoami")).json()

    assert known == {
        "subject": "boss",
        "tenant": "default",
        "scopes": ["approvals:decide", "tools:call"],
        "toolset": None,
    }
    assert unasked == {"subject": "anonymous", "tenant": "default", "scopes": ["*"], "toolset": None}


@BOTH_WAYS
async def test_each_sees_the_tools_it_may_call(client: httpx.AsyncClient, keys: dict[str, dict[str, str]]) -> None:
    """Remembered for all who see the same, with one ETag; for others it is another list."""
    callers = ("agent", "clerk", "root", "nobody", "clerk", "agent")
    answers = [await client.get("/tools", headers=keys[caller]) for caller in callers]
    names = [[offered["function"]["name"] for offered in answer.json()] for answer in answers]
    tags = [answer.headers["ETag"] for answer in answers]
    known = await client.get("/tools", headers={**keys["agent"], "If-None-Match": tags[1]})

    few, all_of_them = ["who", "delete_order"], ["who", "write_order", "pay_order", "delete_order"]
    assert names == [few, all_of_them, all_of_them, few, all_of_them, few]
    assert (tags[0] == tags[3] == tags[5], tags[1] == tags[2] == tags[4], tags[0] == tags[1]) == (True, True, False)
    assert known.status_code == 200


@BOTH_WAYS
@pytest.mark.parametrize("name", ["write_order", "pay_order"])
async def test_a_hidden_tool_answers_as_one_that_is_not_there(
    make_client: MakeClient, keys: dict[str, dict[str, str]], name: str, tmp_path: Path
) -> None:
    """Alone, in a batch, with events, by its name, in a dry run and for later; and nothing of it is remembered."""
    access: dict[str, Any] = {"auth": ("api_key",), "keys_file": tmp_path / "keys.jsonl"}
    client, without = await make_client(*TOOLS, **access), await make_client(who, delete_order, **access)

    hidden, missing = [await _ask_in_every_way(server, name, keys["agent"]) for server in (client, without)]

    assert hidden == missing
    assert (await client.get("/tool_calls", headers=keys["auditor"])).json() == []
    assert (await client.post("/tool_calls", json=write_call(name), headers=keys["clerk"])).json()[
        "status"
    ] == "success"


async def _ask_in_every_way(client: httpx.AsyncClient, name: str, headers: dict[str, str]) -> list[Any]:
    call = write_call(name)
    sent = [
        await client.post("/tool_calls", json=call, headers=headers),
        await client.post("/tool_calls/batch", json=[call], headers=headers),
        await client.post("/tool_calls", json=call, headers={**headers, "Accept": "text/event-stream"}),
        await client.post("/tool_calls/batch", json=[call], headers={**headers, "Accept": "text/event-stream"}),
        await client.post("/tool_calls?dry_run=true", json=call, headers=headers),
        await client.post("/tool_calls", json=call, headers={**headers, "Prefer": "respond-async"}),
        await client.post("/tool_calls", json=call, headers={**headers, "Idempotency-Key": "1"}),
        await client.get(f"/tools/{name}", headers=headers),
    ]
    return [(answer.status_code, _CHANGES.sub("", answer.text)) for answer in sent]


# Ids and times, which are others each time.
_CHANGES = re.compile(r'"(id|instance)":"[^"]*"|"duration_ms":[0-9.]+')


async def test_the_calls_of_others_are_seen_by_who_may(
    client: httpx.AsyncClient, keys: dict[str, dict[str, str]]
) -> None:
    """One's own by everybody; anybody else's as one that is not there; ended for others by who may see and operate."""
    sent = await client.post("/tool_calls", json=write_call("who"), headers={**keys["agent"], "Idempotency-Key": "1"})
    call = f"/tool_calls/{sent.json()['id']}"

    seen = {caller: (await client.get(call, headers=keys[caller])).status_code for caller in SCOPES}
    watched = (await client.get(f"{call}/events", headers=keys["clerk"])).status_code
    repeated = [(await client.post(f"{call}/replay", headers=keys[who])).status_code for who in ("clerk", "auditor")]
    ended = {caller: await client.post(f"{call}/cancel", headers=keys[caller]) for caller in SCOPES}

    assert {caller for caller, status in seen.items() if status == 200} == {"agent", "auditor", "keeper", "root"}
    assert {status for status in seen.values() if status != 200} == {404}
    assert (watched, repeated) == (404, [404, 403])
    assert {caller: answer.status_code for caller, answer in ended.items()} == {
        **dict.fromkeys(SCOPES, 404), "agent": 409, "auditor": 403, "operator": 403, "keeper": 409, "root": 409,
    }  # fmt: skip
    assert [ended[who].json()["scope"] for who in ("auditor", "operator")] == ["server:operate", "calls:read"]


async def test_who_approves_ones_own_call_needs_the_scope_for_it(
    client: httpx.AsyncClient, keys: dict[str, dict[str, str]]
) -> None:
    """Rejecting it does not, and others' calls are decided without; nobody else sees one."""
    ids = {}
    for caller in ("agent", "boss", "chief"):
        answer = await client.post("/tool_calls", json=write_call("delete_order"), headers=keys[caller])
        ids[caller] = answer.json()["id"]
    seen = [(await client.get(f"/approvals/{ids['agent']}", headers=keys[who])).status_code for who in SCOPES]

    async def decide(who: str, whose: str, decision: str) -> int:
        body = {"decision": decision}
        return (await client.post(f"/approvals/{ids[whose]}", json=body, headers=keys[who])).status_code

    assert dict(zip(SCOPES, seen, strict=True)) == {
        **dict.fromkeys(SCOPES, 404), "agent": 200, "boss": 200, "chief": 200, "root": 200,
    }  # fmt: skip
    assert await decide("agent", "agent", "approve") == 403
    assert await decide("boss", "boss", "approve") == 403
    assert await decide("boss", "boss", "reject") == 200
    assert await decide("boss", "agent", "approve") == 200
    assert await decide("boss", "agent", "approve") == 409
    assert await decide("chief", "chief", "approve") == 200


async def test_a_refused_body_names_no_hidden_tool(make_client: MakeClient, tmp_path: Path) -> None:
    """Neither in its example, nor in the document."""
    keys = write_keys(tmp_path / "keys", {"agent": ("tools:call",)})
    client = await make_client(write_order, auth=("api_key",), keys_file=tmp_path / "keys")

    refused = await client.post("/tool_calls", json={"wrong": 1}, headers=keys["agent"])

    assert refused.status_code == 422
    assert "write_order" not in refused.text + (await client.get("/openapi.json")).text

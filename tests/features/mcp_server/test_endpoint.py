"""One path serves every revision, and refuses what is written in none."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.features.mcp_server.messages import BEFORE, MODERN, PREFIX, ask, ask_as_before, head, write
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient

pytestmark = BOTH_WAYS
SERVER = {"name": "sidecall", "title": "Sidecall"}


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


async def test_a_modern_call_stands_for_itself(make_client: MakeClient) -> None:
    """It is answered with JSON, the server's name and the id of the request."""
    client = await make_client(add)

    response = await ask(client, "tools/call", name="add", arguments={"a": 1, "b": 2})

    result = response.json()["result"]
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.headers["x-request-id"]
    assert (result["content"], result["isError"]) == ([{"type": "text", "text": "3"}], False)
    assert result["resultType"] == "complete"
    assert SERVER.items() <= result["_meta"][f"{PREFIX}serverInfo"].items()
    assert result["_meta"]["sidecall/call"]["id"]


async def test_the_server_says_what_it_speaks(make_client: MakeClient) -> None:
    """Every revision, newest first."""
    client = await make_client(add)

    result = (await ask(client, "server/discover")).json()["result"]

    assert result["supportedVersions"] == [MODERN, BEFORE, "2025-06-18", "2025-03-26", "2024-11-05"]
    assert result["capabilities"] == {"tools": {"listChanged": False}, "resources": {}, "prompts": {}}
    assert result["ttlMs"] == 60_000


@pytest.mark.parametrize(
    ("wanted", "spoken"), [(BEFORE, BEFORE), ("2024-11-05", "2024-11-05"), ("1999-01-01", BEFORE), (7, BEFORE)]
)
async def test_a_handshake_is_answered_without_a_session(make_client: MakeClient, wanted: Any, spoken: str) -> None:
    """Where there are none, so that any worker can serve what follows."""
    client = await make_client(add, mcp_sessions=False)

    response = await client.post(
        "/mcp", json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": wanted}}
    )
    accepted = await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    called = await ask_as_before(client, "tools/call", name="add", arguments={"a": 1, "b": 2})

    assert response.json()["result"]["protocolVersion"] == spoken
    assert "mcp-session-id" not in response.headers
    assert (accepted.status_code, accepted.content) == (202, b"")
    assert called.json()["result"]["content"] == [{"type": "text", "text": "3"}]
    assert (await ask_as_before(client, "ping")).json()["result"] == {}


CALL = write("tools/call", name="add", arguments={"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Mcp-Method": "tools/list"}, -32020),
        ({"Mcp-Name": "sub"}, -32020),
        ({"Mcp-Name": "=?base64?c3Vi?="}, -32020),
        ({"Mcp-Name": "=?base64?!?="}, -32020),
        ({"MCP-Protocol-Version": BEFORE}, -32020),
        ({"MCP-Protocol-Version": "1999-01-01"}, -32020),
        ({"Mcp-Method": None}, -32020),
        ({"Mcp-Name": None}, -32020),
        ({"MCP-Protocol-Version": None}, -32020),
        ({"Mcp-Name": "=?base64?YWRk?="}, None),
        ({"Mcp-Name": "  add "}, None),
    ],
)
async def test_headers_say_what_the_body_says(
    make_client: MakeClient, headers: dict[str, str | None], code: int | None
) -> None:
    """Since a gateway looks at them, and this server at the body."""
    client = await make_client(add)
    sent = {name: value for name, value in {**head(CALL), **headers}.items() if value is not None}

    response = await client.post("/mcp", json=CALL, headers=sent)

    assert (response.status_code, response.json()["id"]) == (200 if code is None else 400, 1)
    assert response.json().get("error", {}).get("code") == code


async def test_a_header_that_comes_twice_is_refused(make_client: MakeClient) -> None:
    """A gateway may have looked at the other one."""
    client = await make_client(add)

    response = await client.post("/mcp", json=CALL, headers=[*head(CALL).items(), ("Mcp-Name", "add")])

    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ({f"{PREFIX}protocolVersion": "1999-01-01"}, -32022),
        ({f"{PREFIX}clientCapabilities": None}, -32602),
        ({f"{PREFIX}clientCapabilities": ...}, -32602),
        ({f"{PREFIX}protocolVersion": ...}, -32602),
    ],
)
async def test_a_modern_request_says_its_revision(make_client: MakeClient, meta: dict[str, Any], code: int) -> None:
    """And what its client can do."""
    client = await make_client(add)
    message = write("tools/list", meta)
    told = {key: value for key, value in message["params"]["_meta"].items() if value is not ...}
    message["params"]["_meta"] = told
    version = told.get(f"{PREFIX}protocolVersion", MODERN)

    response = await client.post("/mcp", json=message, headers={**head(message), "MCP-Protocol-Version": version})

    assert (response.status_code, response.json()["error"]["code"]) == (400, code)
    if code == -32022:
        assert response.json()["error"]["data"]["requested"] == "1999-01-01"
        assert MODERN in response.json()["error"]["data"]["supported"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": 1}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
    ],
)
async def test_what_is_no_message_is_refused(make_client: MakeClient, body: bytes, code: int) -> None:
    """As JSON-RPC has it, with the id where there is one to be read."""
    client = await make_client(add)

    response = await client.post("/mcp", content=body, headers={"Content-Type": "application/json"})

    known = 1 if code == -32602 else None
    assert (response.status_code, response.json()["id"], response.json()["error"]["code"]) == (400, known, code)


async def test_an_unknown_method_is_not_found(make_client: MakeClient) -> None:
    """With the status that tells it from a path where nothing is; the earlier revisions know no such status."""
    client = await make_client(add)

    modern = await ask(client, "completion/complete")
    before = await ask_as_before(client, "completion/complete")

    assert (modern.status_code, modern.json()["error"]["code"]) == (404, -32601)
    assert (before.status_code, before.json()["error"]["code"]) == (200, -32601)


@pytest.mark.parametrize(
    ("headers", "content", "status"),
    [
        ({"Content-Type": "text/plain"}, b"{}", 415),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, b"{}", 415),
        ({"Content-Type": "application/json"}, b'"' + b"x" * 3000 + b'"', 413),
        ({"Content-Type": "application/json; charset=utf-8"}, b'{"jsonrpc":"2.0","method":"notifications/x"}', 202),
    ],
)
async def test_bodies_are_bounded_as_elsewhere(
    make_client: MakeClient, headers: dict[str, str], content: bytes, status: int
) -> None:
    """By the same limits, with the same problems."""
    client = await make_client(add, max_body_bytes=2048)

    response = await client.post("/mcp", content=content, headers=headers)

    assert response.status_code == status


async def test_pages_of_others_are_refused(make_client: MakeClient) -> None:
    """By the rule that holds for all paths."""
    client = await make_client(add)

    response = await client.post("/mcp", json=CALL, headers={**head(CALL), "Origin": "https://evil.example"})
    renamed = await client.post("/mcp", json=CALL, headers={**head(CALL), "Host": "evil.example"})

    assert [response.status_code, renamed.status_code] == [403, 421]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_other_methods_are_not_allowed(make_client: MakeClient, method: str) -> None:
    """There is no session to end, and nothing to be heard where the tools cannot change."""
    client = await make_client(add)

    response = await client.request(method, "/mcp", headers={"Accept": "text/event-stream"})

    assert (response.status_code, response.headers["allow"]) == (405, "POST")


async def test_it_can_be_left_out(make_client: MakeClient) -> None:
    """By a setting."""
    client = await make_client(add, mcp=False)

    response: httpx.Response = await ask(client, "tools/list")

    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"

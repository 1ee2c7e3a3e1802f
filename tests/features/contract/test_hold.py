"""A call that relies on what its tool is not any more does not run."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import tool
from sidecall.features.contract.lock import write_lock
from tests.features.mcp_server.messages import ask
from tests.kit.asgi import BOTH_WAYS
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient

CALL = write_call("add", a=1)


@tool
async def add(a: int) -> int:
    """Add one."""
    return a + 1


@tool("add")
async def wider(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool("add", idempotency="tool_call_id")
async def known_again(a: int) -> int:
    """Add one."""
    return a + 1


async def find_hash(client: httpx.AsyncClient) -> str:
    """Return what the server says is the tool's hash."""
    return str((await client.get("/tools/add")).json()["hash"])


def read(answer: httpx.Response) -> Any:
    """Return the status, and the content or the problem."""
    said = answer.json()
    return answer.status_code, said.get("content", said.get("detail"))


@BOTH_WAYS
@pytest.mark.parametrize("offered", [add, known_again])
async def test_a_call_that_is_pinned_to_what_is_there_runs(make_client: MakeClient, offered: Any) -> None:
    """In the body or in a header; another may be in a list, or in a header before it."""
    client = await make_client(offered)
    now = await find_hash(client)

    answers = [await client.post("/tool_calls", json={**CALL, "hash": now})]
    answers += [
        await client.post("/tool_calls", json=CALL, headers={"If-Match": value})
        for value in (f'"{now}"', f'"old", "{now}"', "*")
    ]

    answers.append(
        await client.post("/tool_calls", json=CALL, headers=[("If-Match", '"old"'), ("If-Match", f'"{now}"')])
    )

    assert [read(answer) for answer in answers] == [(200, "2")] * 5


@BOTH_WAYS
@pytest.mark.parametrize("offered", [add, known_again])
async def test_a_call_that_is_pinned_to_something_else_is_refused(make_client: MakeClient, offered: Any) -> None:
    """The problem names the hash that there is, and says that nobody knows the other."""
    client = await make_client(offered)
    said = "add is not what the call is pinned to. What has changed is not known here; "

    by_body = await client.post("/tool_calls", json={**CALL, "hash": "old"})
    by_header = await client.post("/tool_calls", json=CALL, headers={"If-Match": '"old"'})
    rehearsed = await client.post("/tool_calls?dry_run=true", json={**CALL, "hash": "old"})

    for answer in (by_body, by_header, rehearsed):
        assert answer.status_code == 409
        assert answer.json()["type"] == "urn:sidecall:problem:contract-changed"
        assert answer.json()["detail"].startswith(said)
        assert answer.json()["hash"] == await find_hash(client)


async def test_what_has_changed_is_said_after_a_reload(make_client: MakeClient) -> None:
    """Since the server has seen both."""
    client = await make_client(add)
    before = await find_hash(client)
    client._transport.app.state.parts.registry.replace([wider])  # type: ignore[attr-defined]

    answer = await client.post("/tool_calls", json={**CALL, "hash": before})

    assert read(answer) == (
        409,
        "add is not what the call is pinned to: has another description; b: is new, and required.",
    )
    assert answer.json()["errors"] == [
        {"loc": [], "type": "compatible", "msg": "has another description"},
        {"loc": ["b"], "type": "breaking", "msg": "b: is new, and required"},
    ]


async def test_what_has_changed_since_the_lock_is_said(make_client: MakeClient, here: Path) -> None:
    """The server finds it where it is started."""
    (here / "tools.lock").write_text(write_lock([add.compiled]))
    client = await make_client(wider)
    before = await find_hash(await make_client(add))

    answer = await client.post("/tool_calls", json={**CALL, "hash": before})

    assert read(answer)[1].endswith("b: is new, and required.")


async def test_a_lock_that_is_none_stops_nothing(
    make_client: MakeClient, here: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says so."""
    (here / "tools.lock").write_text("{")

    client = await make_client(add)

    assert read(await client.post("/tool_calls", json=CALL)) == (200, "2")
    assert "tools.lock is not used: tools.lock is no lock of tools" in caplog.text


async def test_a_batch_answers_in_the_calls_place(make_client: MakeClient) -> None:
    """The others run; a header could not say which call it is about."""
    client = await make_client(add)

    drifted, fine = (await client.post("/tool_calls/batch", json=[{**CALL, "hash": "old"}, CALL])).json()
    refused = await client.post("/tool_calls/batch", json=[CALL], headers={"If-Match": '"old"'})

    assert drifted["response_metadata"]["error"]["kind"] == "contract_changed"
    assert (fine["content"], refused.status_code) == ("2", 422)


async def test_a_client_of_mcp_may_pin_its_call(make_client: MakeClient) -> None:
    """Beside the other words of the program."""
    client = await make_client(add)

    answers = [
        await ask(client, "tools/call", {"sidecall/hash": value}, name="add", arguments={"a": 1})
        for value in (await find_hash(client), "old")
    ]

    assert [answer.status_code for answer in answers] == [200, 409]


async def test_who_may_not_see_a_tool_learns_nothing_of_it(make_client: MakeClient) -> None:
    """It is told that there is none."""
    hidden = add.model_copy(update={"is_enabled": False})
    client = await make_client(hidden)

    answer = await client.post("/tool_calls", json={**CALL, "hash": "old"})

    assert answer.json()["response_metadata"]["error"]["kind"] == "unknown_tool"

"""A call whose secret nobody has set fails as `not_configured`, at every door, and nothing has crashed."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from sidecall import BaseTool, Secret, UserToken, tool
from sidecall.kernel.core.errors import ToolNotConfigured
from tests.kit.calls import kind_of, run
from tests.kit.clients import MakeClient

Key = Annotated[str, Secret("NOT_SET_KEY")]


def _note(*_: Any) -> str:
    return "worded"


@tool
async def send(text: str, key: Key) -> str:
    """Send a message."""
    return f"{text} {key}"


@tool(executor="process")
def send_from_process(text: str, key: Key) -> str:
    """Send a message."""
    return f"{text} {key}"


@tool
async def send_for_caller(text: str, key: Annotated[str, Secret("NOT_SET_KEY", of="caller")]) -> str:
    """Send a message."""
    return f"{text} {key}"


@tool
async def send_for_person(text: str, token: Annotated[str, UserToken("nowhere")]) -> str:
    """Send a message."""
    return f"{text} {token}"


@tool(handle_tool_error=None)
async def send_openly(text: str, key: Key) -> str:
    """Send a message, and let failures through."""
    return f"{text} {key}"


@tool(failure_error_function=_note, handle_tool_error="worded")
async def send_worded(text: str, key: Key) -> str:
    """Send a message, and word failures."""
    return f"{text} {key}"


@tool
async def send_twice(text: str) -> str:
    """Send a message by another tool."""
    return str(await send.ainvoke({"text": text}))


@tool(executor="process")
async def send_twice_from_process(text: str) -> str:
    """Send a message by another tool, in a process."""
    return str(await send.ainvoke({"text": text}))


class Args(BaseModel):
    """Arguments with a hidden one."""

    text: str
    key: Key


@tool(args_schema=Args)
async def send_by_model(text: str, key: str) -> str:
    """Send a message."""
    return f"{text} {key}"


ALL: list[BaseTool] = [
    *(send, send_from_process, send_for_caller, send_for_person, send_openly),
    *(send_worded, send_twice, send_twice_from_process, send_by_model),
]


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOT_SET_KEY", "")


@pytest.mark.parametrize("offered", ALL, ids=lambda it: it.name)
async def test_what_is_missing_is_a_kind_of_its_own(offered: BaseTool) -> None:
    """No matter who should have set it, where it is missed, and what the author makes of the tool's own failures."""
    message = await run(offered, {"text": "Hi"})

    error = message.response_metadata["error"]
    assert (error["kind"], error["retryable"]) == ("not_configured", False)
    assert message.content.startswith("Error: send")
    assert "is not configured here, so it cannot run (call call_" in message.content
    assert "NOT_SET_KEY" not in message.model_dump_json()


async def test_it_is_raised_where_a_program_gives_arguments_alone() -> None:
    """With what is missing in a note of its traceback."""
    with pytest.raises(ToolNotConfigured) as caught:
        await send.ainvoke({"text": "Hi"})

    assert caught.value.__notes__ == [
        "The secret NOT_SET_KEY is not set, neither by this caller nor as a variable nor as a file."
    ]


CALL = {"name": "send", "args": {"text": "Hi"}, "id": "call_1"}


async def test_every_door_says_the_same(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    """A plain call, a batch, a stream, a job, MCP, the operation of OpenAPI, and the history."""
    client = await make_client(send, history="full")
    caplog.clear()

    plain = (await client.post("/tool_calls", json=CALL)).json()
    batch = (await client.post("/tool_calls/batch", json=[CALL])).json()[0]
    stream = (await client.post("/tool_calls", json=CALL, headers={"Accept": "text/event-stream"})).text
    job = (await client.post("/tool_calls", json=CALL, headers={"Prefer": "respond-async"})).json()
    ended = (await client.get(f"/tool_calls/{job['id']}", headers={"Prefer": "wait=5"})).json()
    operation = await client.post("/tools/send/call", json={"text": "Hi"})
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "send", "arguments": {"text": "Hi"}}}
    over_mcp = (await client.post("/mcp", json=asked, headers={"Accept": "application/json, text/event-stream"})).text
    listed = (await client.get("/tool_calls?kind=not_configured")).status_code

    assert [kind_of(message) for message in (plain, batch, ended["message"])] == ["not_configured"] * 3
    assert '"kind":"not_configured"' in stream
    assert (operation.status_code, operation.json()["title"]) == (
        500,
        "The tool lacks what nobody has set on the server.",
    )
    assert operation.json()["retryable"] is False
    assert '"isError":true' in over_mcp
    assert "is not configured here" in over_mcp
    assert listed == 200
    said = "tool send is not configured: The secret NOT_SET_KEY is not set, neither by this caller nor as a variable"
    assert [record.message.startswith(said) for record in caplog.records] == [True] * 6
    assert not any(record.exc_info for record in caplog.records)


async def test_a_dry_run_fails_too(make_client: MakeClient) -> None:
    """It says what would become of the call."""
    client = await make_client(send)

    told = (await client.post("/tool_calls?dry_run=true", json=CALL)).text

    assert "not_configured" in told

"""What has to go back goes back however late a call is answered, and by any server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry, tool
from sidecall.main import create_app
from sidecall.native import CommandResult, ShellCommand
from sidecall.settings import Settings
from tests.features.native_tools.rest.built_in import (
    CALLER,
    CHECK,
    TOOLS,
    write_computer_call,
    write_shell_call,
    write_tool_use,
)
from tests.kit.clients import MakeClient

EXIT = {"type": "exit", "exit_code": 0}
CALL = {**write_shell_call("ls", max_output_length=100), "caller": CALLER}
ANSWER = {
    "type": "shell_call_output",
    "call_id": "c1",
    "output": [{"stdout": "ls\n", "stderr": "", "outcome": EXIT}],
    "status": "completed",
    "max_output_length": 100,
    "caller": CALLER,
}


@tool("shell", native="shell", args_schema=ShellCommand, requires_approval=True)
async def approved_shell(commands: list[str], timeout_ms: int | None, max_output_length: int | None) -> Any:
    """Run commands."""
    del timeout_ms, max_output_length
    return [CommandResult(f"{command}\n") for command in commands]


async def _end(client: httpx.AsyncClient, location: str, **params: str) -> Any:
    for _ in range(200):
        answer = (await client.get(location, params=params, headers={"Prefer": "wait=5"})).json()
        if answer["message"] is not None:
            return answer["message"]
        await asyncio.sleep(0.05)
    raise AssertionError(answer)


async def test_a_job_is_answered_with_the_item(make_client: MakeClient) -> None:
    """When it is asked for later, in the dialect of the call."""
    client = await make_client(*TOOLS)
    accepted = await client.post("/tool_calls", json=CALL, headers={"Prefer": "respond-async"})
    assert accepted.status_code == 202
    location = accepted.headers["location"]
    assert await _end(client, location, format="openai-responses") == ANSWER
    assert (await _end(client, location))["content"] == "ls"
    told = (await client.get(f"{location}/events", params={"format": "openai-responses"})).text
    assert '"type":"shell_call_output"' in told


async def test_a_job_of_a_member_keeps_its_toolset(make_client: MakeClient) -> None:
    """And is listed under the name of the tool."""
    client = await make_client(*TOOLS)
    call = write_tool_use("key", toolset_name="computer", text="a")
    accepted = await client.post("/tool_calls", json=call, headers={"Prefer": "respond-async"})
    answer = await _end(client, accepted.headers["location"], format="anthropic")
    assert answer["toolset_name"] == "computer"
    listed = (await client.get("/tool_calls", params={"name": "computer_key"})).json()
    assert [entry["tool_call_id"] for entry in listed] == ["c1"]


async def test_a_repeated_call_is_answered_as_it_was(make_client: MakeClient) -> None:
    """By its key."""
    client = await make_client(*TOOLS)
    first, second = [await client.post("/tool_calls", json=CALL, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert first.json() == second.json() == ANSWER
    assert second.headers["Idempotency-Replayed"] == "true"


async def test_a_call_of_which_nobody_waits_for_the_answer_keeps_its_form(make_client: MakeClient) -> None:
    """A custom tool whose model goes on."""
    client = await make_client(*TOOLS)
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "add", "input": "1", "async": True, "caller": CALLER}
    accepted = await client.post("/tool_calls", json=call)
    assert accepted.status_code == 202
    answer = await _end(client, accepted.headers["location"], format="openai-responses")
    assert answer == {"type": "custom_tool_call_output", "call_id": "c1", "output": "1", "caller": CALLER}


async def test_what_an_item_has_no_place_for_comes_later_too(make_client: MakeClient) -> None:
    """With the answer of a call that was remembered, asked for again, or approved."""
    client = await make_client(*TOOLS)
    call = write_computer_call({"type": "miss"})
    kept = await client.post("/tool_calls", json=call, headers={"Idempotency-Key": "k", "Prefer": "wait=10"})
    job = await client.post("/tool_calls", json=call, headers={"Prefer": "respond-async"})
    form = {"format": "openai-responses"}
    later = await client.get(job.headers["Location"], params=form, headers={"Prefer": "wait=10"})
    checked = write_computer_call({"type": "miss"}, pending_safety_checks=[CHECK])
    place = f"/approvals/{(await client.post('/tool_calls', json=checked)).json()['id']}"
    approved = await client.post(place, json={"decision": "approve"}, params=form)

    answers = [kept, later, approved, await client.get(place, params=form)]
    assert [answer.headers.get("Sidecall-Error") for answer in answers] == ["No such button."] * 4
    assert "Sidecall-Error" not in (await client.get(place)).headers


@asynccontextmanager
async def _serve(store: str) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(Settings(store=store), Registry([approved_shell]))
    asking = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall")
    async with app.router.lifespan_context(app), asking as client:
        yield client


@pytest.mark.parametrize("is_approved", [True, False])
async def test_an_approval_is_answered_by_another_server(tmp_path: Path, is_approved: bool) -> None:
    """Which knows the call from the store alone; a refused command says so in its place."""
    store = f"sqlite:///{tmp_path / 'calls.db'}"
    async with _serve(store) as client:
        waiting = await client.post("/tool_calls", json=CALL)
        assert waiting.status_code == 202
    url = f"/approvals/{waiting.json()['id']}?format=openai-responses"
    decision = {"decision": "approve"} if is_approved else {"decision": "reject", "reason": "Not today."}
    async with _serve(store) as client:
        answer = (await client.post(url, json=decision)).json()["message"]
        assert (await client.get(url)).json()["message"] == answer
        assert (await client.post("/tool_calls", json=CALL)).json() == answer
    if is_approved:
        assert answer == ANSWER
    else:
        (output,) = answer["output"]
        assert output["outcome"] == {"type": "exit", "exit_code": 126}
        assert "Not today." in output["stderr"]
        assert {**answer, "output": None} == {**ANSWER, "output": None}


def test_a_registry_finds_what_is_implemented() -> None:
    """By its kind."""
    registry = Registry([approved_shell])
    found = registry.find_native("shell")
    assert found is not None
    assert found.name == "shell"
    assert registry.find_native("bash") is None

"""The calls of a run are written as a file, and answered from it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import ToolContext, tool
from sidecall.client import AsyncSidecall, Progress, Sidecall, ToolAnswer
from sidecall.testing import NotRecorded, RunningServer, UnfitRecording, record, replay, run_app, run_server


@tool
async def add(a: int, b: int, context: ToolContext) -> int:
    """Add two numbers."""
    await context.progress(1, 2, "half")
    return a + b


@tool(requires_approval=True)
def pay(amount: int, api_key: str = "none") -> dict[str, Any]:
    """Pay money."""
    return {"paid": amount, "password": "hunter-22", "used": api_key}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server with both."""
    with run_server([add, pay]) as running:
        yield running


def behave(client: Sidecall, run: str) -> list[Any]:
    """Do what an agent may do, with ids of calls that differ from run to run; return what it sees."""
    call: dict[str, Any] = {"name": "add", "args": {"a": 1, "b": 2}, "id": f"one_{run}"}
    seen: list[Any] = [[tool["function"]["name"] for tool in client.tools()] for _ in range(2)]
    seen.append(client.call(call, state={"user": "ada"}))
    seen += client.stream({**call, "id": f"two_{run}"})
    seen += client.batch([{**call, "id": f"{letter}_{run}"} for letter in "ab"])
    paid = {"name": "pay", "args": {"amount": 3, "api_key": f"sk-{run}-12345"}, "id": f"pay_{run}"}
    seen.append(client.call(paid, ask=lambda _: True))
    seen.append(client.job({**call, "id": f"job_{run}"}).wait().answer)
    seen.append(client.run({"choices": [{"message": say(f"said_{run}")}]}))
    return seen


def say(call_id: str) -> dict[str, Any]:
    """Return a message of OpenAI's with a call."""
    function = {"name": "add", "arguments": '{"a": 20, "b": 22}'}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]}


def shorten(seen: list[Any]) -> list[Any]:
    """Keep what matters of what an agent has seen."""
    return [(it.tool_call_id, it.content) if isinstance(it, ToolAnswer) else it for it in seen]


def test_a_run_is_answered_as_it_was(server: RunningServer, tmp_path: Path) -> None:
    """Lists, calls, events, batches, approvals, jobs and models' messages, with the ids of this run."""
    file = tmp_path / "runs/run.json"
    with Sidecall(server.url, transport=record(file), api_key="key-of-the-first-run") as client:
        behave(client, "first")

    with replay(file) as recorded, Sidecall(transport=recorded, api_key="another-key") as client:
        seen = shorten(behave(client, "second"))

    assert seen == [
        ["add", "pay"],
        ["add", "pay"],
        ("one_second", "3"),
        Progress("two_second", 1, 2, "half"),
        ("two_second", "3"),
        ("a_second", "3"),
        ("b_second", "3"),
        ("pay_second", '{"paid": 3, "password": "[redacted]", "used": "[redacted]"}'),
        ("job_second", "3"),
        [say("said_second"), {"role": "tool", "tool_call_id": "said_second", "content": "42"}],
    ]
    assert recorded.unused == []


def test_secrets_are_not_written(server: RunningServer, tmp_path: Path) -> None:
    """Credentials, members with telling names, and what the test names."""
    file = tmp_path / "run.json"
    secrets = ["token-1234", "cookie-1234", "hunter-22", "sk-9999", "state-1234", "named-1234", "proxy-1234"]
    headers = {"Cookie": "session=cookie-1234; theme=dark", "Proxy-Authorization": "Basic YTpwcm94eS0xMjM0"}
    with httpx.Client(base_url=server.url, transport=record(file, secrets=["named-1234"]), headers=headers) as client:
        call = {"name": "pay", "args": {"amount": 1, "api_key": "sk-9999"}, "id": "named-1234"}
        body = {**call, "state": {"password": "state-1234", "note": "token-1234"}}
        waiting = client.post("/tool_calls", json=body, headers={"Authorization": "Bearer token-1234"}).json()
        client.post(f"/approvals/{waiting['id']}", json={"decision": "approve"})
        client.put("/secrets/BANK", content=b"proxy-1234")

    text = file.read_text()

    assert [secret for secret in [*secrets, "YTpwcm94eS0xMjM0"] if secret in text] == []
    assert '"amount": 1' in text
    assert '"note": "[redacted]"' in text


def test_any_secret_fits_where_one_was_taken_out(server: RunningServer, tmp_path: Path) -> None:
    """Each person who runs the test has their own."""
    file = tmp_path / "run.json"
    paid = {"name": "pay", "args": {"amount": 3, "api_key": "sk-mine"}, "id": "c"}
    with Sidecall(server.url, transport=record(file)) as client:
        client.preview(paid)

    with Sidecall(transport=replay(file)) as client:
        assert client.preview({**paid, "args": {"amount": 3, "api_key": "sk-yours"}})["would_run"] is True
    with Sidecall(transport=replay(file)) as client, pytest.raises(NotRecorded):
        client.preview({**paid, "args": {"amount": 4, "api_key": "sk-mine"}})


@pytest.fixture
def recording(server: RunningServer, tmp_path: Path) -> Path:
    """A recorded call, sent twice, and a list of tools."""
    file = tmp_path / "run.json"
    with httpx.Client(base_url=server.url, transport=record(file)) as client:
        client.get("/tools")
        for call_id in ("c1", "c2"):
            client.post("/tool_calls", json={"name": "add", "args": {"a": 1, "b": 2}, "id": call_id})
    return file


@pytest.mark.parametrize(
    "call",
    [
        {"name": "add", "args": {"a": 1, "b": 2}, "id": "mine"},
        {"id": "mine", "args": {"b": 2, "a": 1}, "name": "add"},
        {"name": "add", "args": {"a": 1, "b": 2}, "id": "mine", "type": "tool_call"},
        {"name": "add", "args": '{"a":1,"b":2}', "id": "mine"},
    ],
)
def test_the_same_call_may_be_written_otherwise(recording: Path, call: dict[str, Any]) -> None:
    """In another order, with its type, with arguments as a text; plain HTTPX is a client, too."""
    with httpx.Client(base_url="http://sidecall", transport=replay(recording)) as client:
        answer = client.post("/tool_calls", json=call).json()

    assert (answer["content"], answer["tool_call_id"]) == ("3", "mine")


def test_what_one_client_has_recorded_answers_another(recording: Path) -> None:
    """Which names the usual forms."""
    with Sidecall(transport=replay(recording)) as client:
        assert [tool["function"]["name"] for tool in client.tools()] == ["add", "pay"]
        assert client.call({"name": "add", "args": {"a": 1, "b": 2}, "id": "c"}).content == "3"


@pytest.mark.parametrize(
    ("method", "path", "body", "text"),
    [
        ("POST", "/tool_calls", {"name": "add", "args": {"a": 1, "b": 3}, "id": "c"}, "has no answer for this request"),
        ("POST", "/tool_calls", {"name": "sub", "args": {"a": 1, "b": 2}, "id": "c"}, "has no answer for this request"),
        ("POST", "/tool_calls", {"name": "add", "args": {"a": 1, "b": 2.0}, "id": "c"}, "has no answer"),
        ("POST", "/tool_calls", {"name": "add", "args": {"a": 1, "b": 2}, "id": "c", "state": {"a": 1}}, "no answer"),
        ("POST", "/tool_calls?dry_run=true", {"name": "add", "args": {"a": 1, "b": 2}, "id": "c"}, "no answer"),
        ("GET", "/tools?format=anthropic", None, "has no answer for this request"),
        ("GET", "/approvals", None, "It has nothing at this path"),
    ],
)
def test_what_was_not_recorded_is_a_clear_failure(
    recording: Path, method: str, path: str, body: Any, text: str
) -> None:
    """The error says what was asked for and what there is, and comes once more at the end."""
    recorded = replay(recording)
    client = httpx.Client(base_url="http://sidecall", transport=recorded)

    with pytest.raises(NotRecorded) as raised:
        client.request(method, path, json=body)
    with pytest.raises(NotRecorded) as at_the_end:
        recorded.__exit__()

    assert text in str(raised.value)
    assert path.partition("?")[0] in str(raised.value)
    assert str(at_the_end.value) == str(raised.value)
    assert len(recorded.unused) == 3


def test_an_answer_is_given_as_often_as_it_was_recorded(recording: Path) -> None:
    """A list as often as it is asked for."""
    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "c"}
    client = httpx.Client(base_url="http://sidecall", transport=replay(recording))

    assert [client.post("/tool_calls", json=call).json()["content"] for _ in range(2)] == ["3", "3"]
    assert [client.get("/tools").status_code for _ in range(3)] == [200] * 3
    with pytest.raises(NotRecorded, match="answers 2 such requests, and this is one more"):
        client.post("/tool_calls", json=call)


def test_a_recording_is_served_over_http(recording: Path) -> None:
    """For programs that take an address only; what was not recorded is a problem there."""
    with replay(recording).serving() as server, Sidecall(server.url) as client:
        assert client.call({"name": "add", "args": {"a": 1, "b": 2}, "id": "c"}).tool_call_id == "c"
        refused = httpx.post(server + "/tool_calls", json={"name": "add", "args": {"a": 2, "b": 2}, "id": "c"})

    assert refused.status_code == 501
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json()["type"] == "urn:sidecall:problem:not-recorded"


async def test_async_clients_record_and_replay(tmp_path: Path) -> None:
    """Here through an application without a socket."""
    file = tmp_path / "run.json"
    with run_app([add]) as app:
        transport = record(file, httpx.ASGITransport(app=app))
        async with AsyncSidecall("http://sidecall", transport=transport) as client:
            first = [event async for event in client.stream("add", {"a": 1, "b": 2})]

    async with replay(file) as recorded, AsyncSidecall(transport=recorded) as client:
        again = [event async for event in client.stream("add", {"a": 1, "b": 2})]

    assert again == first
    with pytest.raises(TypeError, match="sends no requests of sync clients"):
        httpx.Client(transport=transport).get("http://sidecall/tools")


def test_bodies_that_are_no_json_come_back(server: RunningServer, tmp_path: Path) -> None:
    """Bytes, and pages."""
    file = tmp_path / "run.json"
    with httpx.Client(base_url=server.url, transport=record(file)) as client:
        sent = client.post("/contents", content=b"\xff\x00png", headers={"Content-Type": "image/png"})
        place = sent.json().get("url") or sent.headers["Location"]
        first = [client.get(place), client.get("/metrics"), client.get("/tools/none")]

    with httpx.Client(base_url="http://sidecall", transport=replay(file)) as client:
        again = [client.get(place), client.get("/metrics"), client.get("/tools/none")]

    assert first[0].content == b"\xff\x00png"
    assert [(it.status_code, it.content) for it in again] == [(it.status_code, it.content) for it in first]
    assert again[0].headers["Content-Type"] == "image/png"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "other"}', '{"format": "sidecall-recording-1", "exchanges": [{"request": {}}]}'],
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    """When it is opened."""
    file = tmp_path / "run.json"
    file.write_text(text)

    with pytest.raises(UnfitRecording):
        replay(file)


def test_people_can_read_a_recording(recording: Path) -> None:
    """JSON, a request and its answer at a time."""
    written = json.loads(recording.read_text())

    assert written["format"] == "sidecall-recording-1"
    assert written["exchanges"][1]["request"] == {
        "method": "POST",
        "path": "/tool_calls",
        "json": {"name": "add", "args": {"a": 1, "b": 2}, "id": "c1"},
    }
    assert written["exchanges"][1]["response"]["json"]["content"] == "3"

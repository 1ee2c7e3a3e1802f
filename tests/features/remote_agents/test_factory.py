"""Agents of other programs are tools: they answer, ask people, are cancelled, and do not call each other for ever."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sidecall import Registry, StructuredTool, ToolMessage, remote_agent
from sidecall.features.remote_agents.connection import AgentConnection
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.remote_agents.agents import Heard, serving_agents
from tests.kit.calls import run
from tests.kit.clients import MakeClient
from tests.kit.events import events_in
from tests.kit.serving import serving_app
from tests.kit.waiting import until

A2A = ("/rpc", "/polled", "/rest")


@pytest.fixture(scope="module", name="served")
def serve_agents() -> Iterator[Heard]:
    """Serve them for all tests here."""
    with serving_agents() as heard:
        yield heard


@pytest.fixture(name="heard")
def forget(served: Heard) -> Heard:
    """Forget what they were told before."""
    for said in (served.bodies, served.headers, served.cancelled, served.texts):
        said.clear()
    served.started.clear()
    return served


def make(heard: Heard, path: str, **options: Any) -> StructuredTool:
    """Offer one of them."""
    return remote_agent("weather", heard.url + path, description="Knows the weather.", **options)


async def ask(heard: Heard, path: str, text: str, **options: Any) -> ToolMessage:
    """Ask one of them."""
    return await run(make(heard, path, **options), {"input": text})


@pytest.mark.parametrize("path", A2A)
@pytest.mark.parametrize("stream", [True, False])
async def test_an_agent_of_a2a_answers(heard: Heard, path: str, stream: bool) -> None:
    """Over either binding, at once, by events or by asking again."""
    message = await ask(heard, path, "hello", stream=stream)

    assert message.content == "Sunny, 21 degrees."
    assert isinstance(message.artifact, dict)
    assert sorted(message.artifact) == ["context_id", "task_id"]


async def test_a_conversation_goes_on(heard: Heard) -> None:
    """By the id in the artifact."""
    agent = make(heard, "/rpc")
    first = await run(agent, {"input": "hello"})
    second = await run(agent, {"input": "and tomorrow?", "context_id": first.artifact["context_id"]})

    assert second.artifact["context_id"] == first.artifact["context_id"]
    assert second.artifact["task_id"] != first.artifact["task_id"]


@pytest.mark.parametrize(
    ("path", "text", "content"),
    [
        ("/rpc", "fail", "The agent's task has failed: No such account."),
        ("/old", "hello", "The agent speaks A2A 0.3, and 1.0 is needed. Ask its operator to offer 1.0."),
        ("/v1/chat/completions", "busy", "The agent answers 429: Too many."),
        (
            "/v1/chat/completions",
            "tools",
            "The agent has asked for tools of its own, which it is not given here. Ask it in another way.",
        ),
        ("/v1/responses", "fail", "The agent has failed: Out of order."),
    ],
)
async def test_a_failure_is_said(heard: Heard, path: str, text: str, content: str) -> None:
    """As the agent says it."""
    message = await ask(heard, path, text)

    assert (message.status, message.content) == ("error", content)


async def test_what_is_no_agent_is_said(heard: Heard) -> None:
    """With what to do."""
    message = await ask(heard, "/nothing", "hello")

    assert message.content == (
        f"There is no agent's card at {heard.url}/nothing, and the address is none of Chat Completions or Responses. "
        "Say the dialect."
    )


@pytest.mark.parametrize("stream", [True, False])
async def test_an_endpoint_of_chat_completions_answers(heard: Heard, stream: bool) -> None:
    """With what its model has used."""
    message = await ask(heard, "/v1/chat/completions", "hello", stream=stream, model="m")
    in_base = await ask(heard, "/v1", "hello", dialect="chat")

    assert message.content == in_base.content == "It is sunny."
    assert message.response_metadata["usage"] == {
        "requests": 1,
        "input_tokens": 7,
        "output_tokens": 5,
        "total_tokens": 12,
    }
    assert heard.bodies[0]["model"] == "m"
    assert heard.bodies[0]["messages"] == [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("stream", [True, False])
async def test_an_endpoint_of_responses_answers(heard: Heard, stream: bool) -> None:
    """And goes on with a conversation."""
    agent = make(heard, "/v1/responses", stream=stream)
    first = await run(agent, {"input": "hello"})
    await run(agent, {"input": "more", "context_id": first.artifact["context_id"]})

    assert (first.content, first.artifact) == ("Echo: hello", {"context_id": "resp_1"})
    assert heard.bodies[1]["previous_response_id"] == "resp_1"


async def test_a_response_that_is_queued_is_waited_for(heard: Heard) -> None:
    """By asking again."""
    assert (await ask(heard, "/v1/responses", "queue")).content == "Echo: polled"


async def test_no_conversation_goes_on_where_there_is_none(heard: Heard) -> None:
    """And the model reads so."""
    message = await run(make(heard, "/v1/chat/completions"), {"input": "hello", "context_id": "x"})

    assert message.content == "This agent keeps no conversation: leave out context_id, and say all that it has to know."


async def test_a_file_goes_to_the_contents(heard: Heard, make_client: MakeClient) -> None:
    """And the text to the model."""
    client = await make_client(make(heard, "/rpc"))
    message = (await client.post("/tool_calls", json=_call("file"))).json()
    [part] = message["artifact"]["parts"]
    body = await client.get(f"/contents/{part['content_id']}")

    assert message["content"] == "Here it is."
    assert (part["mediaType"], part["bytes"], body.content) == ("image/png", 2, b"\x00\x01")


async def test_progress_is_the_calls(heard: Heard, make_client: MakeClient) -> None:
    """What the agent says of it, and its artifacts."""
    client = await make_client(make(heard, "/rpc"))
    answer = await client.post("/tool_calls", json=_call("hello"), headers={"Accept": "text/event-stream"})
    told = [data["message"] for name, data in events_in(answer.text) if name == "progress"]

    assert told == ["Looking it up.", "Sunny, 21 degrees."]


def _call(text: str, id: str = "call_1") -> dict[str, Any]:
    return {"name": "weather", "args": {"input": text}, "id": id, "type": "tool_call"}


@pytest.mark.parametrize(
    ("path", "text", "decision", "description", "content"),
    [
        ("/rpc", "ask", {"decision": "approve", "reason": "Kiel"}, "Which city?", "You said: Kiel"),
        ("/polled", "ask", {"decision": "approve"}, "Which city?", "You said: Approved."),
        ("/rest", "sign in", {"decision": "approve"}, "Sign in at the bank.", "You said: Approved."),
        (
            "/rpc",
            "ask",
            {"decision": "reject", "reason": "none of your business"},
            "Which city?",
            "You said: The person has rejected this: none of your business",
        ),
        (
            "/v1/responses",
            "ask",
            {"decision": "approve"},
            "The agent wants to call transfer.",
            '[{"type": "mcp_approval_response", "approve": true, "approval_request_id": "mcpr_1"}]',
        ),
        (
            "/v1/responses",
            "ask",
            {"decision": "reject", "reason": "no"},
            "The agent wants to call transfer.",
            '[{"type": "mcp_approval_response", "approve": false, "reason": "no", "approval_request_id": "mcpr_1"}]',
        ),
    ],
)
async def test_what_an_agent_asks_a_person_is_an_approval(
    heard: Heard, make_client: MakeClient, path: str, text: str, decision: Any, description: str, content: str
) -> None:
    """And the agent is told what was decided, and goes on where it was."""
    client = await make_client(make(heard, path))
    waiting = await client.post("/tool_calls", json=_call(text))
    approval = waiting.json()
    decided = (await client.post(f"/approvals/{approval['id']}", json=decision)).json()

    assert (waiting.status_code, approval["description"]) == (202, description)
    assert "task_id" not in waiting.text
    assert decided["message"]["content"] == content


async def test_an_agent_asks_again(heard: Heard, make_client: MakeClient) -> None:
    """Under the same approval."""
    client = await make_client(make(heard, "/rpc"))
    approval = (await client.post("/tool_calls", json=_call("ask"))).json()
    place = f"/approvals/{approval['id']}"
    again = (await client.post(place, json={"decision": "approve", "reason": "again"})).json()
    refused = await client.post(place, json={"decision": "approve", "always": True})
    ended = (await client.post(place, json={"decision": "approve", "reason": "Main Street"})).json()

    assert (again["id"], again["status"], again["description"]) == (approval["id"], "pending", "Which street?")
    assert refused.status_code == 422
    assert ended["message"]["content"] == "You said: Main Street"


@pytest.mark.parametrize("path", A2A)
@pytest.mark.parametrize("text", ["wait", "wait, and say nothing yet"])
async def test_the_task_is_cancelled_at_the_deadline(heard: Heard, path: str, text: str) -> None:
    """Also one of which the agent says only later what it is called: no agent works for nobody."""
    for seconds in (0.3, 3, 30):  # On a busy machine the agent may not have begun within the first.
        message = await ask(heard, path, text, timeout=seconds)
        assert message.response_metadata["error"]["kind"] == "timeout"
        if heard.texts:
            break

    await until(lambda: 1 <= len(heard.texts) == len(heard.cancelled))


@pytest.mark.parametrize(("depth", "is_asked"), [(None, True), ("2", True), ("3", False), ("x", False), ("1 3", False)])
async def test_agents_do_not_call_each_other_for_ever(
    heard: Heard, make_client: MakeClient, depth: str | None, is_asked: bool
) -> None:
    """Each says how deep the call is, and of which trace it is a part."""
    client = await make_client(make(heard, "/v1/chat/completions"))
    parent = f"00-{'a' * 32}-{'b' * 16}-01"
    sent = [("traceparent", parent), *(("Sidecall-Depth", it) for it in (depth or "").split())]
    message = (await client.post("/tool_calls", json=_call("hello"), headers=sent)).json()

    if is_asked:
        assert heard.headers[0]["sidecall-depth"] == str(int(depth or 0) + 1)
        assert heard.headers[0]["traceparent"] == parent
    else:
        assert heard.headers == []
        assert message["content"] == "This call came through 3 agents already, and does not go on to another."


async def test_a_secret_proves_who_asks(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which neither the model nor the answer has."""
    monkeypatch.setenv("WEATHER_KEY", "s3cret-key")
    agent = make(heard, "/v1/chat/completions", auth="WEATHER_KEY")
    await run(agent, {"input": "hello"})

    assert heard.headers[0]["authorization"] == "Bearer s3cret-key"
    assert sorted(agent.args) == ["context_id", "input"]


@pytest.mark.parametrize(
    ("url", "dialect", "text"),
    [
        ("http://xn--/", "auto", "is no address of an agent"),
        ("ftp://x.example", "auto", "is no address of an agent"),
        ("x.example", "auto", "is no address of an agent"),
        ("https://me:pw@x.example", "auto", "is no address of an agent"),
        ("https://x.example", "grpc", "dialect is"),
    ],
)
def test_what_cannot_be_an_agent_is_refused(url: str, dialect: Any, text: str) -> None:
    """When it is written."""
    with pytest.raises(InvalidToolOption, match=text):
        remote_agent("x", url, dialect, description="X.")


async def test_an_agent_that_is_not_there_is_said() -> None:
    """It may be there later."""
    message = await run(remote_agent("x", "http://127.0.0.1:9/v1/responses", description="X."), {"input": "hello"})

    assert message.content == "The agent cannot be reached. Try again later."
    assert message.response_metadata["error"]["retryable"] is True


async def test_a_question_survives_the_server(heard: Heard, tmp_path: Path) -> None:
    """The next one knows which task goes on."""
    settings = Settings(store=f"sqlite:///{tmp_path / 'ledger.db'}", history="off")

    async def serve(path: str, body: Any) -> Any:
        app = create_app(settings, Registry([make(heard, "/rpc")]))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall") as client,
        ):
            return (await client.post(path, json=body)).json()

    approval = await serve("/tool_calls", _call("ask"))
    ended = await serve(f"/approvals/{approval['id']}", {"decision": "approve", "reason": "Kiel"})

    assert ended["message"]["content"] == "You said: Kiel"


async def _answer_at_length(request: Request) -> JSONResponse:
    """Be an endpoint of Chat Completions that says so many numbers beside its answer."""
    count = int((await request.json())["messages"][0]["content"])
    said = {"choices": [{"message": {"role": "assistant", "content": "Sunny."}}], "log": [1] * count}
    return JSONResponse(said)


@pytest.mark.parametrize(
    ("count", "status", "content"),
    [
        (100_000, "success", "Sunny."),
        (300_000, "error", "The agent's answer cannot be read: it has more than 250,000 values."),
    ],
)
async def test_a_long_answer_holds_nobody_up(count: int, status: str, content: str) -> None:
    """One that would is an error that says so."""
    routes = [Route("/v1/chat/completions", _answer_at_length, methods=["POST"])]
    with serving_app(lambda _: Starlette(routes=routes)) as url:
        agent = remote_agent("weather", f"{url}/v1", description="Knows the weather.", dialect="chat", stream=False)
        message = await run(agent, {"input": str(count)})

    assert (message.status, message.content) == (status, content)


async def _answer_in_pieces(_: Request) -> Response:
    """Be an agent of A2A that appends parts to its artifact, few values at a time."""
    artifact = {"artifactId": "a", "parts": [{"data": 1}] * 1000}
    event = {"result": {"artifactUpdate": {"taskId": "t", "append": True, "artifact": artifact}}}
    end = {"result": {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}}
    text = f"data: {json.dumps(event)}\n\n" * 200 + f"data: {json.dumps(end)}\n\n"
    return Response(text, media_type="text/event-stream")


async def _describe_itself(request: Request) -> JSONResponse:
    place = {"url": str(request.base_url), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return JSONResponse({"capabilities": {"streaming": True}, "supportedInterfaces": [place]})


async def test_an_artifact_that_is_appended_to_without_end_is_an_error() -> None:
    """Each event is small, and all are kept."""
    routes = [
        Route("/.well-known/agent-card.json", _describe_itself),
        Route("/", _answer_in_pieces, methods=["POST"]),
    ]
    with serving_app(lambda _: Starlette(routes=routes)) as url:
        message = await run(remote_agent("weather", url, description="Knows the weather."), {"input": "x"})

    assert message.content == "The agent's answer cannot be read: it has more than 250,000 values."


async def test_others_run_between_the_events_of_a_chunk() -> None:
    """A chunk may hold thousands of them, or of empty lines."""
    turns: list[int] = []

    async def take_turns() -> None:
        while True:
            turns.append(0)
            await asyncio.sleep(0)

    def answer(_: httpx.Request) -> httpx.Response:
        body = b"\n" * 5000 + b"data: 1\n\n" * 5000
        return httpx.Response(200, content=body, headers={"Content-Type": "text/event-stream"})

    others = asyncio.create_task(take_turns())
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        line = AgentConnection(client, {}, lambda _: None, streams=True)
        events = [event async for event in line.stream("http://agent/", {})]
    others.cancel()

    assert len(events) == 5000
    assert len(turns) > 100

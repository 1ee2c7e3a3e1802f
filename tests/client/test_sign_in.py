"""A call whose person has to sign in first waits for that in the client, and in the agents of frameworks."""

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import httpx
import pytest
from langgraph.types import Command
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from sidecall import UserToken, tool
from sidecall.client import ApprovalNeeded, AsyncSidecall
from sidecall.client.pydantic_ai import ServerToolset
from tests.client.conftest import OpenApp
from tests.client.test_langchain import QUESTION, THREAD, answers, run, say, write_call
from tests.client.test_pydantic_ai import script
from tests.client.twins import URL, Twin
from tests.kit.callers.provider import Browser, LocalProvider, provide
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.callers.waiting import wait_for_person


@tool
async def list_mail(token: Annotated[str, UserToken("hub")]) -> str:
    """List mail."""
    return f"mail of {token.partition('-')[0]}"


@tool(requires_approval=True)
async def send_mail(token: Annotated[str, UserToken("hub")]) -> str:
    """Send mail."""
    return f"sent by {token.partition('-')[0]}"


@pytest.fixture(scope="module")
def serving() -> Iterator[LocalProvider]:
    """Serve a provider."""
    with provide() as provider:
        yield provider


@pytest.fixture
async def outside(serving: LocalProvider, open_app: OpenApp) -> AsyncIterator[httpx.AsyncClient]:
    """Give a bare client of a server whose tools act for a person."""
    serving.reset()
    settings: dict[str, Any] = {
        "oauth": serving.write_settings(),
        "public_url": URL,
        "secrets_key": SECRETS_KEY,
        "hosts": ("sidecall",),
    }
    transport = httpx.ASGITransport(app=await open_app(list_mail, send_mail, **settings))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        yield client


@pytest.fixture
async def server(outside: httpx.AsyncClient) -> AsyncIterator[AsyncSidecall]:
    """Give the Python client of the same server."""
    async with AsyncSidecall(URL, transport=outside._transport) as client:
        yield client


async def test_the_client_says_where_to_sign_in(outside: httpx.AsyncClient, server: AsyncSidecall) -> None:
    """In its exception; the same call has its answer once they have."""
    call = write_call("list_mail")
    planned = await server.preview(call)
    with pytest.raises(ApprovalNeeded, match=r"A person has to sign in at hub: http://sidecall/oauth/start") as needed:
        await server.call(call)
    link = needed.value.approvals[0].sign_in
    again = await server.preview(call)

    assert link is not None
    await Browser(outside).sign_in(link.url)
    answer = await server.call(call, approval_wait=30)

    assert (planned["sign_in"], planned["requires_approval"], again["requires_approval"]) == ("hub", False, False)
    assert (link.provider, answer.content) == ("hub", "mail of ann")
    assert (await server.preview(write_call("list_mail", id="call_2")))["sign_in"] is None


async def test_whoever_is_asked_may_lead_there(outside: httpx.AsyncClient, server: AsyncSidecall) -> None:
    """First to the provider, then to the decision, which signing in is none of."""
    asked = []

    async def ask(approval: Any) -> bool:
        asked.append(approval.sign_in is None)
        if approval.sign_in is not None:
            await Browser(outside).sign_in(approval.sign_in.url)
        return True

    answer = await server.call(write_call("send_mail"), ask=ask, approval_wait=30)

    assert (asked, answer.content) == ([False, True], "sent by ann")


async def test_a_whole_answer_of_a_model_goes_on(outside: httpx.AsyncClient, server: AsyncSidecall) -> None:
    """With the turn that was kept."""
    function = {"name": "list_mail", "arguments": "{}"}
    call = {"id": "call_9", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    with pytest.raises(ApprovalNeeded) as needed:
        await server.run({"choices": [{"message": message}]})
    (approval,) = needed.value.approvals
    assert approval.sign_in is not None

    await Browser(outside).sign_in(approval.sign_in.url)
    messages = await server.run(needed.value.turn, approval_wait=30)

    assert messages[-1] == {"role": "tool", "tool_call_id": "call_9", "content": "mail of ann"}


async def test_a_graph_is_interrupted(outside: httpx.AsyncClient, server: AsyncSidecall) -> None:
    """With the link, again as long as nobody has signed in."""
    agent, _ = await run(Twin(server), say(write_call("list_mail")))

    (question,) = (await agent.ainvoke(QUESTION, THREAD))["__interrupt__"]
    (again,) = (await agent.ainvoke(Command(resume={question.id: True}), THREAD))["__interrupt__"]
    await Browser(outside).sign_in(again.value["sign_in"]["url"])
    state = await agent.ainvoke(Command(resume={again.id: True}), THREAD)

    assert question.value["sign_in"]["provider"] == "hub"
    assert answers(state)["call_list_mail"].content == "mail of ann"


async def test_who_was_led_to_a_provider_has_decided_nothing(outside: httpx.AsyncClient, server: AsyncSidecall) -> None:
    """A graph is interrupted again for the decision, which nobody was asked for before."""
    agent, _ = await run(Twin(server), say(write_call("send_mail")))

    (led,) = (await agent.ainvoke(QUESTION, THREAD))["__interrupt__"]
    await Browser(outside).sign_in(led.value["sign_in"]["url"])
    await wait_for_person(outside, led.value["id"])
    (asked,) = (await agent.ainvoke(Command(resume=True), THREAD))["__interrupt__"]
    state = await agent.ainvoke(Command(resume=True), THREAD)

    assert (asked.value["id"], asked.value["sign_in"]) == (led.value["id"], None)
    assert answers(state)["call_send_mail"].content == "sent by ann"


async def test_a_run_is_deferred(outside: httpx.AsyncClient, server: AsyncSidecall) -> None:
    """With the link in its metadata."""
    model = script([ToolCallPart("list_mail", {}, "a")])
    agent = Agent(model, toolsets=[ServerToolset(server)], output_type=[str, DeferredToolRequests])

    stopped = await agent.run("Please.")
    assert isinstance(stopped.output, DeferredToolRequests)
    await Browser(outside).sign_in(stopped.output.metadata["a"]["sign_in"]["url"])
    approved = DeferredToolResults(approvals={"a": True})
    result = await agent.run(message_history=stopped.all_messages(), deferred_tool_results=approved)

    returned = [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
    assert returned[-1].content == "mail of ann"

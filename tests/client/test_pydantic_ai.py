"""An agent of Pydantic AI works with the tools of a server as with its own."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sidecall.client import AsyncSidecall
from sidecall.client.pydantic_ai import ServerToolset
from tests.client.conftest import OpenApp
from tests.client.desk import double, find, pay_out, recall, refund
from tests.client.twins import make_twin


def script(*turns: list[ToolCallPart]) -> FunctionModel:
    """Make a model that asks for these tools, turn by turn, and is done then."""

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        said = sum(isinstance(message, ModelResponse) for message in messages)
        return ModelResponse(parts=turns[said] if said < len(turns) else [TextPart("Done.")])

    return FunctionModel(answer)


@pytest.fixture
async def server(open_app: OpenApp) -> AsyncIterator[AsyncSidecall]:
    """A client of a server with tools."""
    twin = make_twin("asynchronous", await open_app(double, find, recall, refund, pay_out))
    yield twin.client
    await twin.ask("close")


def make_agent(server: AsyncSidecall, model: FunctionModel) -> Agent[Any, Any]:
    """Make an agent with the tools of a server."""
    toolset = ServerToolset(server, state=lambda ctx: ctx.deps, context=lambda ctx: {"user": ctx.deps["user"]})
    return Agent(model, toolsets=[toolset], output_type=[str, DeferredToolRequests], deps_type=dict)


def parts(result: Any, kind: type[Any]) -> list[Any]:
    """Return what of a kind stands in the messages of a run."""
    return [part for message in result.all_messages() for part in message.parts if isinstance(part, kind)]


DEPS = {"user": "Ada", "key": "of the state"}


async def test_state_artifacts_and_repaired_failures_come_across(server: AsyncSidecall) -> None:
    """Wrong arguments come back as a retry, other failures as failed."""
    calls = [
        ToolCallPart("find", {"query": "tea"}, "a"),
        ToolCallPart("recall", {"key": "key"}, "b"),
        ToolCallPart("double", {"number": "four"}, "c"),
        ToolCallPart("double", {"number": -1}, "d"),
    ]
    agent = make_agent(server, script(calls, [ToolCallPart("double", {"number": 4}, "e")]))

    result = await agent.run("Please.", deps=DEPS)

    returned = {part.tool_call_id: part for part in parts(result, ToolReturnPart)}
    assert (returned["a"].content, returned["a"].metadata["artifact"]) == ("tea for Ada", {"rows": ["tea"]})
    assert (returned["b"].content, returned["d"].outcome, returned["d"].content) == (
        "of the state",
        "failed",
        "Not below zero.",
    )
    assert (returned["c"].outcome, "number" in str(returned["c"].content)) == ("retried", True)
    assert (returned["e"].content, result.output) == ("8", "Done.")


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (True, "Refunded 100 for order 7."),
        (ToolApproved(override_args={"order": 7, "amount": 5}), "Refunded 5 for order 7."),
        (ToolDenied("Ask for a receipt first."), "Ask for a receipt first."),
    ],
)
async def test_an_approval_is_deferred(server: AsyncSidecall, decision: Any, expected: str) -> None:
    """The run goes on with what a person has said, and nothing is left waiting in the server."""
    agent = make_agent(server, script([ToolCallPart("refund", {"order": 7}, "a")]))

    stopped = await agent.run("Please.", deps=DEPS)
    waiting = await server.approvals.list()
    result = await agent.run(
        message_history=stopped.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"a": decision}),
        deps=DEPS,
    )

    assert [call.tool_name for call in stopped.output.approvals] == ["refund"]
    assert stopped.output.metadata["a"]["args"] == {"order": 7, "amount": 100}
    assert (waiting, await server.approvals.list()) == ([], [])
    assert (parts(result, ToolReturnPart)[-1].content, result.output) == (expected, "Done.")


async def test_a_tool_that_asks_itself_is_deferred_too(server: AsyncSidecall) -> None:
    """With what it says."""
    agent = make_agent(server, script([ToolCallPart("pay_out", {"amount": 5}, "a")]))

    stopped = await agent.run("Please.", deps=DEPS)
    result = await agent.run(
        message_history=stopped.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"a": True}),
        deps=DEPS,
    )

    assert stopped.output.metadata["a"]["approval"]["description"] == "The till is nearly empty."
    assert parts(result, ToolReturnPart)[-1].content == "Paid 5."

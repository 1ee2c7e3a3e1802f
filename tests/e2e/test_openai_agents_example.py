"""The examples for the OpenAI Agents SDK, which cannot be installed beside our pins: objects of its shape stand in."""

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest

from bench.environments import ROOT
from sidecall import ToolException, ToolOutputImage, tool
from tests.compat.foreign.agents_sdk import FunctionTool, ToolContext
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient


@tool
def double(number: int) -> int:
    """Double a number."""
    if number < 0:
        raise ToolException("Not below zero.")
    return number * 2


@tool
def show(name: str) -> list[Any]:
    """Show an image."""
    return [ToolOutputImage(image_url=f"https://example.org/{name}.png")]


@tool(requires_approval=True)
def erase(path: str) -> str:
    """Erase a file."""
    return f"{path} is gone"


def load(name: str) -> Any:
    """Load an example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example of an agent."""
    package, context = ModuleType("agents"), ModuleType("agents.tool_context")
    names = ("Agent", "MaxTurnsExceeded", "Runner", "UserError", "set_default_openai_api", "set_tracing_disabled")
    vars(package).update(dict.fromkeys(names, Exception), FunctionTool=FunctionTool)
    vars(context).update(ToolContext=ToolContext)
    monkeypatch.setitem(sys.modules, "agents", package)
    monkeypatch.setitem(sys.modules, "agents.tool_context", context)
    return load("agent_openai_agents")


async def ask(agent: Any, client: httpx.AsyncClient, name: str, arguments: str, call_id: str = "call_1") -> Any:
    """Invoke one of the tools that the example makes, as the SDK does."""
    tools = {it.name: it for it in await agent.list_tools(client)}
    return await tools[name].on_invoke_tool(SimpleNamespace(tool_call_id=call_id), arguments)


async def test_each_tool_of_the_server_is_one_of_the_sdk(agent: Any, make_client: MakeClient) -> None:
    """With its name, description and schema."""
    client = await make_client(double, erase)

    first, second = await agent.list_tools(client)

    assert (first.name, first.description, second.name) == ("double", "Double a number.", "erase")
    assert first.params_json_schema["properties"] == {"number": {"type": "integer"}}
    assert (first.strict_json_schema, second.strict_json_schema) == (False, False)


async def test_calls_run_in_the_server(agent: Any, make_client: MakeClient) -> None:
    """Texts, images in the SDK's form, and errors for the model; what the program has to mend is raised."""
    client = await make_client(double, show)

    assert await ask(agent, client, "double", '{"number": 4}') == "8"
    assert await ask(agent, client, "double", '{"number": -1}') == "Not below zero."
    assert await ask(agent, client, "show", '{"name": "a"}') == [
        {"type": "image", "image_url": "https://example.org/a.png"}
    ]


@pytest.mark.parametrize(
    ("said", "expected"), [("y", "/a is gone"), ("n", "The user does not want this.")], ids=["yes", "no"]
)
async def test_a_person_is_asked(
    agent: Any, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch, said: str, expected: str
) -> None:
    """At the terminal, about the call as it will run."""
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or said)
    client = await make_client(erase)

    answer = await ask(agent, client, "erase", '{"path": "/a"}')

    assert (answer, asked) == (expected, ["Run erase({'path': '/a'})? [y/N] "])


async def test_a_moved_file_of_tools_is_served(make_client: MakeClient) -> None:
    """Its functions are told the context in its own type, those around the tools too."""
    module = load("tools_openai_agents")
    client = await make_client(module.find_order, module.refund)
    sent = {"context": {"name": "Ada"}}

    found = await client.post("/tool_calls", json={**write_call("find_order", order=7), **sent})
    missing = await client.post("/tool_calls", json={**write_call("find_order", order=1), **sent})
    small = await client.post("/tool_calls", json={**write_call("refund", order=7, reason=None), **sent})
    large = await client.post("/tool_calls", json={**write_call("refund", order=8, reason=None), **sent})

    assert found.json()["content"] == '{"order": 7, "price": 40, "customer": "Ada"}'
    assert missing.json()["content"] == "That did not work for Ada: there is no order 1"
    assert small.json()["content"] == "Paid 40 back to Ada (no reason)."
    assert large.status_code == 202


def test_the_answer_of_a_command_keeps_its_place() -> None:
    """Among the other messages of its update."""
    answer = {"content": "sent", "tool_call_id": "c", "type": "tool"}
    said = {"state_update": {"messages": ["before", "after"]}, "answer_at": 1}

    command = load("agent_langchain").read_answer({**answer, "response_metadata": said})

    assert [getattr(it, "content", it) for it in command.update["messages"]] == ["before", "sent", "after"]


def test_sends_of_a_command_are_sends_again() -> None:
    """For LangGraph, which knows nothing of their JSON."""
    read_answer = load("agent_langchain").read_answer
    answer = {"content": "sent", "tool_call_id": "c", "type": "tool"}
    steps = [{"node": "writer", "arg": {"subject": "tea"}}, "checker"]

    def goto(value: Any) -> Any:
        return read_answer({**answer, "response_metadata": {"state_update": {}, "goto": value}}).goto

    assert [(it.node, it.arg) for it in goto(steps)[:1]] == [("writer", {"subject": "tea"})]
    assert goto(steps)[1:] == goto("checker") == ["checker"]
    assert [it.node for it in goto(steps[0])] == ["writer"]
    assert read_answer({**answer, "response_metadata": {"state_update": {}}}).goto == []

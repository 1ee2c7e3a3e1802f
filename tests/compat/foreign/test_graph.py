"""Tools that call LangGraph's functions find here what a running graph would give them."""

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import interrupt

from sidecall import ApprovalRequired, tool
from sidecall.compat.foreign.runnables import read_answer
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.ports.approvals.questions import asks_inside
from tests.kit.calls import run, write_call
from tests.kit.clients import MakeClient

STATE: list[str] = []


@langchain_tool
def ask(q: str) -> str:
    """Ask."""
    STATE.append(q)
    return f"{q}: {interrupt({'question': q})}"


@langchain_tool
def ask_twice(q: str) -> str:
    """Ask twice."""
    return f"{interrupt(q + '1')} {interrupt(q + '2')}"


@langchain_tool
def look(q: str) -> str:
    """Look around."""
    runtime = get_runtime()
    store = get_store()
    return f"{type(runtime).__name__} {runtime.context} {isinstance(store, BaseStore)} {isinstance(runtime, Runtime)}"


async def test_without_a_store_there_is_none() -> None:
    """Nor a context, where the program sends none."""
    assert (await run(tool(look), {"q": "x"})).content == "Runtime None False True"


async def test_the_store_passes_for_one_of_langgraphs() -> None:
    """And the context can be read both ways."""

    @langchain_tool
    def who(q: str) -> str:
        """Say who."""
        context: Any = get_runtime().context
        return f"{context.user} {context['user']} {isinstance(get_store(), BaseStore)} {q}"

    message = await run(tool(who), {"q": "x"}, context={"user": "ada"}, store=ItemStore(MemoryItems()))

    assert message.content == "ada ada True x"


@dataclass
class Context:
    """What the program says of its user."""

    user: str


async def test_an_object_of_this_process_is_the_context_itself() -> None:
    """As a graph with a context_schema gives it."""

    @langchain_tool
    def who(q: str, config: RunnableConfig) -> str:
        """Say who."""
        context = get_runtime(Context).context
        return f"{isinstance(context, Context)} {context.user} {config['configurable']} {q}"

    assert (await run(tool(who), {"q": "x"}, context=Context("ada"))).content == "True ada {} x"


async def test_nobody_sees_what_is_there_for_langgraph() -> None:
    """The config has what the program sent; and the conversation, as LangGraph's thread."""

    @langchain_tool
    def show(q: str, config: RunnableConfig) -> str:
        """Show the config."""
        return f"{config['configurable']} {get_config()['configurable']} {q}"

    assert (await run(tool(show), {"q": "x"}, context={"a": 1})).content == "{'a': 1} {'a': 1} x"
    message = await run(tool(show), {"q": "x"}, context={"conversation_id": "c1"})
    assert message.content.startswith("{'thread_id': 'c1', 'conversation_id': 'c1'}")
    message = await run(tool(show), {"q": "x"}, context={"conversation_id": "c1", "thread_id": "t1"})
    assert message.content.startswith("{'thread_id': 't1', 'conversation_id': 'c1'}")


async def test_another_tool_that_it_calls_finds_the_same(make_client: MakeClient) -> None:
    """With its config, without, and in a chain."""

    @langchain_tool
    def inner(q: str) -> str:
        """Write."""
        get_stream_writer()(f"inner {q}")
        return q.upper()

    @langchain_tool
    def outer(q: str, config: RunnableConfig) -> str:
        """Call others."""
        chain = RunnableLambda(lambda given: inner.invoke({"q": given})) | str
        return inner.invoke({"q": q}) + inner.invoke({"q": q}, config) + chain.invoke(q)

    client = await make_client(tool(outer))
    answer = await client.post("/tool_calls", json=write_call("outer", q="x"), headers={"Accept": "text/event-stream"})

    assert answer.text.count('"message":"inner x"') == 3
    assert '"content":"XXX"' in answer.text


class Inside(TypedDict):
    """The state of a graph that runs inside a tool."""

    said: str


def _say(state: Inside) -> Inside:
    context: Any = get_runtime().context
    get_store().put(("a",), "k", {"said": state["said"]})
    return {"said": f"{state['said']} {context and context['user']}"}


def _ask_inside(state: Inside) -> Inside:
    return {"said": interrupt(state["said"])}


async def test_a_graph_inside_is_a_graph_of_its_own() -> None:
    """With its store, its questions and our context."""
    own = InMemoryStore()
    said = StateGraph(Inside).add_node("say", _say).add_edge(START, "say").compile(store=own)
    asking = StateGraph(Inside).add_node("ask", _ask_inside).add_edge(START, "ask").compile(InMemorySaver())

    @langchain_tool
    def nest(q: str) -> str:
        """Run graphs."""
        first = said.invoke({"said": q})
        second = asking.invoke({"said": q}, {"configurable": {"thread_id": "1"}})
        return f"{first['said']} {second['__interrupt__'][0].value}"

    message = await run(tool(nest), {"q": "x"}, context={"user": "ada"}, store=ItemStore(MemoryItems()))

    found = own.get(("a",), "k")
    assert (message.content, found and found.value) == ("x ada x", {"said": "x"})


LATE = """
def late(q: str) -> str:
    "Load LangGraph."
    from langgraph.config import get_store, get_stream_writer
    from langgraph.runtime import get_runtime

    get_stream_writer()("a")
    runtime = get_runtime()
    runtime.heartbeat()
    return f"{runtime.context.user} {get_store() is None} {runtime.previous} {runtime.execution_info.thread_id} {q}"
"""


def _load(text: str, name: str) -> Any:
    module = ModuleType("loaded")
    exec(text, vars(module))
    return vars(module)[name]


async def test_what_is_loaded_while_it_runs_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although LangGraph was not there when the call began."""
    monkeypatch.delitem(sys.modules, "langgraph.runtime")
    message = await run(tool(langchain_tool(_load(LATE, "late"))), {"q": "x"}, context={"user": "ada"})

    assert message.content == "ada True None None x"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (None, True),
        ("yes, do", "yes, do"),
        ("", ""),
        ("42", 42),
        ('"42"', "42"),
        ("false", False),
        ("null", None),
        ('{"type": "accept"}', {"type": "accept"}),
        ('[{"type": "edit", "args": {"a": 1}}]', [{"type": "edit", "args": {"a": 1}}]),
        ("{oops", "{oops"),
        ("NaN", "NaN"),
    ],
)
def test_a_persons_words_are_the_value_that_they_are_the_json_of(reply: str | None, answer: Any) -> None:
    """Or else the words; no words mean yes."""
    assert read_answer(reply) == answer


async def _ask(client: Any, name: str, q: str = "x") -> Any:
    return (await client.post("/tool_calls", json=write_call(name, q=q))).json()


async def test_a_question_is_an_approval(make_client: MakeClient) -> None:
    """The same call that comes again neither runs nor asks again."""
    STATE.clear()
    client = await make_client(tool(ask))

    asked = await client.post("/tool_calls", json=write_call("ask", q="x"))
    approval = asked.json()
    place = f"/approvals/{approval['id']}"
    again = await _ask(client, "ask")
    decided = (await client.post(place, json={"decision": "approve", "reason": "do"})).json()
    last = await _ask(client, "ask")

    assert (asked.status_code, approval["payload"], again["id"]) == (202, {"question": "x"}, approval["id"])
    assert approval["tool_call"]["args"] == {"q": "x"}
    assert (decided["message"]["content"], last["content"]) == ("x: do", "x: do")
    assert STATE == ["x", "x"]


async def test_a_text_is_what_a_person_reads(make_client: MakeClient) -> None:
    """Question after question, under one approval."""
    client = await make_client(tool(ask_twice))

    first = await _ask(client, "ask_twice")
    place = f"/approvals/{first['id']}"
    second = (await client.post(place, json={"decision": "approve", "reason": "one"})).json()
    last = (await client.post(place, json={"decision": "approve", "reason": "two"})).json()

    shown = [(it["description"], it["payload"], it["question"]) for it in (first, second)]
    assert shown == [("x1", "x1", 1), ("x2", "x2", 2)]
    assert last["message"]["content"] == "one two"


@pytest.mark.parametrize("name", ["ask", "ask_twice"])
async def test_a_rejection_ends_the_call(make_client: MakeClient, name: str) -> None:
    """The tool does not go on; one that is to hear a no gets that as the words of an approval."""
    client = await make_client(tool(ask), tool(ask_twice))
    place = f"/approvals/{(await _ask(client, name))['id']}"
    STATE.clear()

    message = (await client.post(place, json={"decision": "reject", "reason": "Too late."})).json()["message"]

    assert (message["content"], message["response_metadata"]["error"]["kind"]) == ("Too late.", "rejected")
    assert STATE == []


async def test_a_call_that_is_approved_before_it_runs_asks_nevertheless(make_client: MakeClient) -> None:
    """That was another question."""
    client = await make_client(tool(ask, requires_approval=True))
    first = await _ask(client, "ask")
    place = f"/approvals/{first['id']}"

    second = (await client.post(place, json={"decision": "approve"})).json()
    last = (await client.post(place, json={"decision": "approve", "reason": "do"})).json()

    assert (first["payload"], second["status"], second["payload"]) == (None, "pending", {"question": "x"})
    assert last["message"]["content"] == "x: do"


async def test_in_a_test_every_question_is_answered_with_true() -> None:
    """Or raises what the server would answer with."""
    with pytest.raises(ApprovalRequired) as caught:
        await run(tool(ask), {"q": "x"})

    assert caught.value.approval.payload == {"question": "x"}
    assert (await run(tool(ask), {"q": "x"}, approved=True)).content == "x: True"
    assert (await run(tool(ask_twice), {"q": "x"}, approved=True)).content == "True True"


async def test_the_form_of_the_answer_is_said(make_client: MakeClient) -> None:
    """And one that does not fit is the tool's failure, as LangGraph raises it."""

    @langchain_tool
    def count(q: str) -> str:
        """Count."""
        return f"{q} {interrupt('How many?', response_schema=int) + 1}"

    client = await make_client(tool(count))
    asked = await _ask(client, "count")
    place = f"/approvals/{asked['id']}"
    message = (await client.post(place, json={"decision": "approve", "reason": "3"})).json()["message"]

    assert asked["description"] == 'How many?\nThe answer is JSON of this schema: {"type": "integer"}'
    assert message["content"] == "x 4"


@pytest.mark.parametrize("door", ["batch", "job", "mcp"])
async def test_it_asks_at_every_door(make_client: MakeClient, door: str) -> None:
    """As any tool that asks does."""
    client = await make_client(tool(ask))
    call = write_call("ask", q="x")

    if door == "batch":
        [answer] = (await client.post("/tool_calls/batch", json=[call])).json()
        found = answer["response_metadata"]["error"]["kind"]
    elif door == "job":
        accepted = await client.post("/tool_calls", json=call, headers={"Prefer": "respond-async"})
        job = await client.get(accepted.headers["Location"], headers={"Prefer": "wait=5"})
        found = job.json()["status"]
    else:
        params = {"name": "ask", "arguments": {"q": "x"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await client.post("/mcp", json=body, headers={"Accept": "application/json, text/event-stream"})
        found = answer.text
    [waiting] = (await client.get("/approvals")).json()
    approval = (await client.get(f"/approvals/{waiting['id']}")).json()

    assert "approv" in found
    assert approval["payload"] == {"question": "x"}


async def test_other_runnables_find_it_too(make_client: MakeClient) -> None:
    """Under the name that they are offered by."""

    def decide(given: str) -> str:
        get_stream_writer()(given)
        return f"{given} {interrupt(given)}"

    client = await make_client(tool("decide", RunnableLambda(decide), description="Decide."))
    call = {"type": "tool_call", "id": "c1", "name": "decide", "args": {"tool_input": "x"}}
    asked = (await client.post("/tool_calls", json=call)).json()
    decided = await client.post(f"/approvals/{asked['id']}", json={"decision": "approve", "reason": "go"})

    assert (asked["description"], decided.json()["message"]["content"]) == ("x", "x go")


class Heard(BaseCallbackHandler):
    """Note which errors are heard."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def on_tool_error(self, error: BaseException, **_: Any) -> None:
        """Note it."""
        self.errors.append(type(error).__name__)


async def test_callbacks_hear_of_the_interrupt_as_at_home() -> None:
    """As of an error."""
    heard = Heard()

    with pytest.raises(ApprovalRequired):
        await run(tool(ask.model_copy(update={"callbacks": [heard]})), {"q": "x"})

    assert heard.errors == ["GraphInterrupt"]


BY_NAME = """
def ask(q: str) -> str:
    from langgraph.types import interrupt as wait
    return str(wait(q))
"""
QUALIFIED = """
import langgraph.types as t

def ask(q: str) -> str:
    return str(t.interrupt(q))
"""


def _by_function(q: str) -> str:
    return _ask_inside({"said": q})["said"]


def _never(q: str) -> str:
    return q


@pytest.mark.parametrize(
    ("function", "asks"),
    [(_load(BY_NAME, "ask"), True), (_load(QUALIFIED, "ask"), True), (_by_function, True), (_never, False)],
    ids=["inside", "qualified", "by another function", "never"],
)
def test_that_it_asks_is_seen_in_its_code(function: Any, asks: bool) -> None:
    """So that a decided call is known again before it runs."""
    it = langchain_tool(description="Do it.")(function)

    assert asks_inside(tool(it).compiled.function) is asks
    assert asks_inside(tool(look).compiled.function) is False

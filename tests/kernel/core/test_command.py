"""A command is taken apart: what answers the call, what is left of the update, where the graph goes on."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.messages import ToolMessage as LangChainMessage
from langgraph import types as langgraph
from pydantic import BaseModel, Field

from sidecall import Command, ToolMessage
from sidecall.kernel.core.command import MessageParts, is_command, is_command_type, read_command
from sidecall.kernel.core.errors import ToolOutputError

WANTED = "it should be a mapping of the state's keys to their new values, or a list of such pairs."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Command(), True),
        (langgraph.Command(update={}), True),
        (Command, False),
        (SimpleNamespace(update={}, goto=()), False),
        ({"update": {}, "goto": ()}, False),
        (type("Command", (), {})(), False),
        (type("Command", (), {"update": {}})(), False),
    ],
)
def test_a_command_is_recognized(value: Any, expected: bool) -> None:
    """Ours and LangGraph's, by name and content."""
    assert is_command(value) is expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [(Command, True), (langgraph.Command[Literal["a"]], True), (str, False), (list[str], False), (None, False)],
)
def test_a_promise_of_a_command_is_recognized(annotation: Any, expected: bool) -> None:
    """It does not describe the content."""
    assert is_command_type(annotation) is expected


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        (ToolMessage(content="ok"), MessageParts("ok")),
        (ToolMessage(content="ok", tool_call_id="c1", status="error"), MessageParts("ok", status="error")),
        (LangChainMessage("ok", tool_call_id="c1", artifact={1}), MessageParts("ok", {1})),
        ({"content": "ok", "tool_call_id": "c1", "status": "success", "artifact": 1}, MessageParts("ok", 1)),
        (
            {"content": 1, "tool_call_id": None, "additional_kwargs": {"a": 1}},
            MessageParts(1, None, "success", {"a": 1}),
        ),
        (SimpleNamespace(tool_call_id="", content="ok"), MessageParts("ok")),
        ({"tool_call_id": "c1"}, MessageParts(None)),
    ],
)
@pytest.mark.parametrize("alone", [True, False])
def test_the_message_that_answers_the_call_is_taken_out(message: Any, spoken: MessageParts, alone: bool) -> None:
    """Of any kind, alone or in a list."""
    read = read_command("give", Command(update={"seen": 1, "messages": message if alone else [message]}), "c1")

    assert (read.answer, read.update, read.goto) == (spoken, {"seen": 1}, [])


def test_other_messages_stay() -> None:
    """Those of people, and answers to other calls."""
    human, other = HumanMessage("hi"), {"content": "no", "tool_call_id": "other"}
    update = {"messages": [human, other, "text", LangChainMessage("ok", tool_call_id="c1")]}

    read = read_command("give", langgraph.Command(update=update), "c1")

    assert read.answer == MessageParts("ok")
    assert read.update == {"messages": [human, other, "text"]}


@pytest.mark.parametrize(
    ("command", "update"),
    [
        (Command(goto="next"), {}),
        (langgraph.Command(goto="next", graph=langgraph.Command.PARENT, update={"a": 1}), {"a": 1}),
        (Command(update={"messages": [{"id": "__remove_all__"}]}), {"messages": [{"id": "__remove_all__"}]}),
    ],
)
def test_a_command_may_have_no_answer(command: Any, update: dict[str, Any]) -> None:
    """Where LangGraph does not ask for one: without an update, for the graph above, or when all messages go."""
    read = read_command("give", command, "c1")

    assert (read.answer, read.update) == (MessageParts(None), update)


def test_pairs_are_a_mapping() -> None:
    """LangGraph takes them too."""
    read = read_command("give", Command(update=[("a", 1), ["messages", [ToolMessage(content="ok")]]]), "c1")

    assert (read.answer, read.update) == (MessageParts("ok"), {"a": 1})


@pytest.mark.parametrize(
    ("update", "complaint"),
    [
        (5, f"whose update is of type int; {WANTED}"),
        (["hi"], f"whose update is of type list; {WANTED}"),
        ([(1, 2)], f"whose update is of type list; {WANTED}"),
        ([("a", 1), ("a", 2)], f"whose update names a key twice; {WANTED}"),
        (
            {"seen": 1},
            "whose update has no message that answers the call; it should have one among its messages:"
            " Command(update={'messages': [ToolMessage(content='...')], ...}).",
        ),
        (
            {"messages": {"content": "no", "tool_call_id": "other"}},
            "whose update has no message that answers the call; it should have one among its messages:"
            " Command(update={'messages': [ToolMessage(content='...')], ...}).",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(update: Any, complaint: str) -> None:
    """With what is expected."""
    with pytest.raises(ToolOutputError) as caught:
        read_command("give", Command(update=update), "c1")

    assert caught.value.message == f"Error: give returned a Command {complaint}"


@pytest.mark.parametrize(
    ("goto", "expected"),
    [
        ((), []),
        ("next", "next"),
        (["a", langgraph.Send("b", {"x": 1})], ["a", {"node": "b", "arg": {"x": 1}}]),
        (langgraph.Send("b", 1), {"node": "b", "arg": 1}),
    ],
)
def test_where_the_graph_goes_on_is_said_in_json(goto: Any, expected: Any) -> None:
    """Names of nodes, and what is sent to them."""
    assert read_command("give", Command(goto=goto), "c1").goto == expected


@dataclass
class State:
    """The state as an object."""

    seen: int
    messages: list[Any]


class Model(BaseModel):
    """The state as a model, of which not all is set."""

    seen: int = 0
    messages: list[Any] = Field(default_factory=list)
    other: int = 5


@pytest.mark.parametrize(
    ("update", "rest"),
    [
        (State(1, [ToolMessage("ok")]), {"seen": 1}),
        (Model(seen=1, messages=[ToolMessage("ok")]), {"seen": 1}),
        ([HumanMessage("hi"), ToolMessage("ok")], {"messages": [HumanMessage("hi")]}),
    ],
)
def test_an_update_may_have_other_forms(update: Any, rest: dict[str, Any]) -> None:
    """An object of the state's class, or messages alone, where these are the state."""
    read = read_command("give", Command(update=update), "c1")

    assert (read.answer, read.update) == (MessageParts("ok"), rest)

"""A command that a tool returns is told to the caller, and the message in it is the answer."""

import math
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.messages import ToolMessage as LangChainMessage
from langgraph import types as langgraph

from sidecall import Command, Send, ToolMessage, tool
from tests.kit.calls import run
from tests.kit.tools import make_give

OK = ToolMessage(content="ok")


@pytest.mark.parametrize(
    ("command", "content", "state_update"),
    [
        (Command(update={"seen": 1, "messages": [OK]}), "ok", {"seen": 1}),
        (Command(update=[("seen", {1}), ("messages", [OK])]), "ok", {"seen": [1]}),
        (
            langgraph.Command(update={"messages": [LangChainMessage("ok", tool_call_id="call_1"), HumanMessage("hi")]}),
            "ok",
            {
                "messages": [
                    {
                        "content": "hi",
                        "additional_kwargs": {},
                        "response_metadata": {},
                        "type": "human",
                        "name": None,
                        "id": None,
                    }
                ]
            },
        ),
        (Command(goto="next"), "null", {}),
        (Command(update={"messages": [{"content": {"a": 1}, "tool_call_id": ""}]}), '{"a": 1}', {}),
    ],
)
async def test_the_update_is_told_and_its_message_answers(command: Any, content: str, state_update: Any) -> None:
    """In JSON, the messages of LangChain included."""
    message = await run(make_give(command))

    assert (message.content, message.status, message.tool_call_id) == (content, "success", "call_1")
    assert message.response_metadata["state_update"] == state_update


@pytest.mark.parametrize(
    ("goto", "told"),
    [
        ((), {}),
        ("next", {"goto": "next"}),
        (["a", langgraph.Send("b", {"x": 1})], {"goto": ["a", {"node": "b", "arg": {"x": 1}}]}),
    ],
)
async def test_the_caller_is_told_where_to_go_on(goto: Any, told: dict[str, Any]) -> None:
    """If anywhere."""
    message = await run(
        make_give(langgraph.Command(update={"messages": [{"content": "ok", "tool_call_id": "call_1"}]}, goto=goto))
    )

    assert {key: value for key, value in message.response_metadata.items() if key == "goto"} == told


async def test_the_message_says_more_than_its_content() -> None:
    """Its artifact, its status and what else it carries."""
    own = LangChainMessage(
        "no", tool_call_id="call_1", artifact={1}, status="error", additional_kwargs={"raw": b"abc"}, name="other"
    )

    message = await run(make_give(Command(update={"messages": [own]})))

    assert (message.content, message.artifact, message.status, message.name) == ("no", [1], "error", "give")
    assert message.additional_kwargs == {"raw": "YWJj"}


@pytest.mark.parametrize(("own", "artifact"), [(None, "of the pair"), ("its own", "its own")])
async def test_a_command_may_be_the_content_of_a_pair(own: Any, artifact: str) -> None:
    """The message's own artifact beats the pair's."""
    command = Command(update={"messages": [ToolMessage(content="ok", artifact=own)]})

    message = await run(make_give((command, "of the pair"), response_format="content_and_artifact"))

    assert (message.content, message.artifact) == ("ok", artifact)


@pytest.mark.parametrize(
    ("command", "content"),
    [
        (
            Command(update={"seen": 1}),
            "Error: give returned a Command whose update has no message that answers the call; it should have one among"
            " its messages: Command(update={'messages': [ToolMessage(content='...')], ...}).",
        ),
        (
            Command(update=5),
            "Error: give returned a Command whose update is of type int; it should be a mapping of the state's keys to"
            " their new values, or a list of such pairs.",
        ),
        (
            Command(update={"messages": OK, "db": object()}),
            "Error: give returned a value of type object at `db` of the state update, which cannot be said in JSON.",
        ),
        (
            Command(update={"messages": OK}, goto=object()),
            "Error: give returned a value of type object as the goto, which cannot be said in JSON.",
        ),
    ],
)
async def test_a_command_that_cannot_be_used_is_an_output_error(command: Command, content: str) -> None:
    """Nothing of it is told then."""
    message = await run(make_give(command))

    assert (message.content, message.status) == (content, "error")
    assert message.response_metadata["error"]["kind"] == "output_error"
    assert "state_update" not in message.response_metadata


async def test_a_number_that_became_null_in_the_update_is_noted() -> None:
    """As in the content."""
    message = await run(make_give(Command(update={"messages": OK, "n": [math.nan]})))

    assert message.response_metadata["state_update"] == {"n": [None]}
    assert message.response_metadata["notes"] == ["NaN at `n[0]` of the state update was sent as null"]


async def test_other_results_have_neither_key() -> None:
    """A program tells a command by them."""
    message = await run(make_give("plain"))

    assert message.response_metadata.keys() & {"state_update", "goto"} == set()


def test_a_promise_of_a_command_does_not_describe_the_result() -> None:
    """The content is the message's."""

    @tool
    def give() -> Command:
        """Give."""
        return Command(goto="next")

    assert give.compiled.output_schema is None


SEEN = Command(update={"seen": [1]})


@pytest.mark.parametrize(
    ("outputs", "content", "told"),
    [
        ([ToolMessage("one")], "one", {}),
        (
            [SEEN, Command(update={"seen": [2], "messages": [OK]}, goto="next", graph=Command.PARENT)],
            "ok",
            {
                "state_update": {"seen": [1, 2]},
                "goto": "next",
                "commands": [
                    {"state_update": {"seen": [1]}},
                    {"state_update": {"seen": [2]}, "goto": "next", "graph": "__parent__", "answer_at": 0},
                ],
            },
        ),
        ([Command(goto="a", resume=1), ToolMessage("one")], "one", {"state_update": {}, "goto": "a", "resume": 1}),
        (
            [SEEN, Command(update={"seen": 2, "messages": [OK]})],
            "Error: give returned Commands that give the state's 'seen' different values.",
            {},
        ),
    ],
)
async def test_nothing_of_a_list_is_lost(outputs: Any, content: str, told: dict[str, Any]) -> None:
    """One message answers, what the commands ask for is told together and each for itself."""
    message = await run(make_give(outputs))

    assert message.content == content
    assert {key: message.response_metadata[key] for key in KEYS if key in message.response_metadata} == told


KEYS = ("state_update", "goto", "graph", "resume", "commands")


async def test_where_the_answer_stood_is_told() -> None:
    """Among the messages of its command, and among those of all."""
    other = ToolMessage("other", tool_call_id="x")
    one = await run(make_give(Command(update={"messages": [other, OK, other]})))
    two = await run(make_give([Command(update={"messages": [other]}), Command(update={"messages": [other, OK]})]))

    assert (one.content, one.response_metadata["answer_at"]) == ("ok", 1)
    assert (two.content, two.response_metadata["answer_at"]) == ("ok", 2)
    assert [it.get("answer_at") for it in two.response_metadata["commands"]] == [None, 1]


async def test_an_answer_to_another_call_is_told_too() -> None:
    """It belongs into the caller's messages."""
    message = await run(make_give([ToolMessage("mine", tool_call_id="call_1"), ToolMessage("other", tool_call_id="x")]))

    [other] = message.response_metadata["state_update"]["messages"]
    assert (message.content, other["content"], other["tool_call_id"]) == ("mine", "other", "x")


async def test_a_command_is_told_whole() -> None:
    """In which graph to go on, and what to resume with."""
    message = await run(make_give(Command(graph=Command.PARENT, goto=[Send("a", 1)], resume={"b": 2})))

    told = {key: message.response_metadata[key] for key in KEYS if key in message.response_metadata}
    assert told == {"state_update": {}, "goto": [{"node": "a", "arg": 1}], "graph": "__parent__", "resume": {"b": 2}}

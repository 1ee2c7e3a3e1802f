"""The messages of a conversation come as JSON, and tools find objects."""

from typing import Any

import pytest

from sidecall import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from sidecall.compiler.state_messages import revive_messages


@pytest.mark.parametrize(
    ("sent", "kind", "text"),
    [
        ({"type": "human", "content": "hi"}, HumanMessage, "hi"),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}, HumanMessage, "ab"),
        ({"role": "assistant", "content": "x", "tool_calls": [{"name": "f"}]}, AIMessage, "x"),
        ({"type": "system", "content": "be kind", "extra": 1}, SystemMessage, "be kind"),
        ({"type": "remove", "id": "1"}, RemoveMessage, ""),
    ],
)
def test_messages_are_known_by_type_or_role(sent: Any, kind: type[Any], text: str) -> None:
    """Those of LangChain and of OpenAI."""
    [made] = revive_messages([sent])

    assert (type(made), made.text) == (kind, text)


@pytest.mark.parametrize("arguments", ['{"q": 1}', {"q": 1}])
def test_openai_writes_no_content_as_null_and_arguments_as_text(arguments: Any) -> None:
    """A model that only calls tools says nothing beside it."""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    cut_off = {"id": "2", "type": "function", "function": {"name": "f", "arguments": '{"q'}}
    [made] = revive_messages([{"role": "assistant", "content": None, "tool_calls": [call, cut_off]}])

    assert (type(made), made.content) == (AIMessage, "")
    assert made.tool_calls == [{"name": "f", "args": {"q": 1}, "id": "1", "type": "tool_call"}]
    assert [(it["id"], it["args"]) for it in made.invalid_tool_calls] == [("2", '{"q')]


def test_an_answer_of_a_tool_is_read_as_the_others_are() -> None:
    """By its text, and by its keys."""
    [made] = revive_messages([{"role": "tool", "content": [{"type": "text", "text": "4"}], "tool_call_id": "c"}])

    assert (made.text, made["tool_call_id"], made.get("status"), made.get("other", 1)) == ("4", "c", "success", 1)


def test_answers_of_tools_are_messages_too() -> None:
    """Of the class that authors know."""
    assert revive_messages([{"type": "tool", "content": "4", "tool_call_id": "c"}]) == [
        ToolMessage("4", tool_call_id="c")
    ]


@pytest.mark.parametrize("sent", [[{"type": "other"}], ["text"], [1], {"a": 1}, None, [HumanMessage("hi")]])
def test_what_is_no_message_stays(sent: Any) -> None:
    """No matter what it is."""
    assert revive_messages(sent) == sent


def test_messages_are_written_as_in_langchain() -> None:
    """Content first."""
    assert HumanMessage("hi").model_dump() == {
        "content": "hi",
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "human",
        "name": None,
        "id": None,
    }
    assert RemoveMessage("1").id == RemoveMessage(id="1").id == "1"

"""Messages come in all the forms that LangChain takes, and are read as it reads them."""

from typing import Any

import langchain_core.messages as langchain
import pytest
from langchain_core.load import dumpd, load
from pydantic import TypeAdapter, ValidationError

import sidecall
from sidecall import AgentState, AnyMessage, BaseMessage, MessagesState
from sidecall.compiler.state_messages import revive_messages

CALL = {"name": "f", "args": {"q": 1}, "id": "1", "type": "tool_call"}
OPENAI_CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"q": 1}'}}
IMAGE = {"type": "image_url", "image_url": {"url": "https://127.0.0.1/a.png"}}
FORMS: list[Any] = [
    {"role": "user", "content": "hi"},
    {"role": "user", "content": "hi", "name": "bob", "id": "m1"},
    {"role": "human", "content": ["a", {"type": "text", "text": "b"}, IMAGE]},
    {"role": "system", "content": "be kind"},
    {"role": "developer", "content": "be kind"},
    {"role": "assistant", "content": "x", "refusal": "no"},
    {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    {"role": "ai", "content": "", "tool_calls": [CALL]},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "1"}]},
    {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [OPENAI_CALL], "more": 1}},
    {"role": "tool", "content": "4", "tool_call_id": "1", "name": "f", "status": "error", "artifact": [1]},
    {"role": "tool", "content": [{"type": "text", "text": "4"}], "tool_call_id": 1},
    {"role": "tool", "content": 4, "tool_call_id": "1"},
    {"type": "human", "content": "hi", "id": 7},
    {"type": "user", "content": "hi"},
    {"type": "ai", "content": "x", "response_metadata": {"a": 1}},
    ["user", "hi"],
    ("user", "hi"),
    ["assistant", "x"],
    ("system", "be kind"),
    ["ai", [{"type": "text", "text": "b"}]],
    *(
        dumpd(it)
        for it in (
            langchain.HumanMessage("hi", id="1", name="bob"),
            langchain.AIMessage("x", tool_calls=[CALL], response_metadata={"a": 1}),
            langchain.SystemMessage("be kind"),
            langchain.ToolMessage("4", tool_call_id="1", artifact={"a": 1}, status="error"),
        )
    ),
]


def read(message: Any) -> Any:
    """Read what tools read of a message."""
    return {
        "kind": type(message).__name__,
        "content": message.content,
        "name": message.name,
        "id": message.id,
        "calls": getattr(message, "tool_calls", None),
        "call_id": getattr(message, "tool_call_id", None),
        "status": getattr(message, "status", None),
        "artifact": getattr(message, "artifact", None),
        "additional_kwargs": message.additional_kwargs,
        "response_metadata": message.response_metadata,
        "text": str(message.text),
        "called_text": message.text(),
        # The ids that LangChain makes up are others each time.
        "blocks": [
            {key: it for key, it in block.items() if it != "1" and key != "id"} for block in message.content_blocks
        ],
        "pretty": message.pretty_repr(),
        "bold": message.pretty_repr(html=True),
    }


@pytest.mark.filterwarnings("ignore:Calling .text", "ignore:The function `load` is in beta")
@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_read_as_langchain_reads_it(form: Any) -> None:
    """In a state, a list of any messages, and where no type says so."""
    # `convert_to_messages` reads what is kept too, but takes `invalid_tool_calls` for something of a provider.
    theirs = load(form, allowed_objects="messages") if "lc" in form else langchain.convert_to_messages([form])[0]
    expected = read(theirs)

    made = [
        *TypeAdapter(list[AnyMessage]).validate_python([form]),
        *TypeAdapter(list[BaseMessage]).validate_python([form]),
        *TypeAdapter(MessagesState).validate_python({"messages": [form]})["messages"],
        *TypeAdapter(AgentState).validate_python({"messages": [form]})["messages"],
        *revive_messages([form]),
    ]

    assert [read(it) for it in made] == [expected] * 5
    assert {type(it).__module__.partition(".")[0] for it in made} == {"sidecall"}


def test_a_text_is_a_persons_where_messages_are_wanted() -> None:
    """Elsewhere it may be anything."""
    assert TypeAdapter(list[AnyMessage]).validate_python(["hi"]) == [sidecall.HumanMessage("hi")]
    assert TypeAdapter(list[BaseMessage]).validate_python(["hi"]) == [sidecall.HumanMessage("hi")]
    assert revive_messages(["hi"]) == ["hi"]


@pytest.mark.parametrize("kept", langchain.messages_to_dict([langchain.HumanMessage("a"), langchain.AIMessage("b")]))
def test_messages_that_were_kept_are_read(kept: Any) -> None:
    """As `messages_from_dict` reads them."""
    [theirs] = langchain.messages_from_dict([kept])

    assert read(TypeAdapter(AnyMessage).validate_python(kept))["content"] == theirs.content


def test_a_class_of_message_takes_its_own_role_only() -> None:
    """A union of some finds the right one."""
    one: TypeAdapter[Any] = TypeAdapter(sidecall.HumanMessage | sidecall.AIMessage)

    assert type(one.validate_python({"role": "assistant", "content": "x"})) is sidecall.AIMessage
    assert type(one.validate_python(("user", "x"))) is sidecall.HumanMessage
    with pytest.raises(ValidationError):
        TypeAdapter(sidecall.HumanMessage).validate_python({"role": "assistant", "content": "x"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "nobody", "content": "a"},
        {"role": ["user"], "content": "a"},
        {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"content": "a"}},
        {"lc": 1, "type": "secret", "id": ["KEY"]},
        {"lc": 1, "type": "constructor", "id": None, "kwargs": {}},
        {"role": "tool", "content": "no id", "tool_call_id": [1]},
        ["nobody", "a"],
        ["user", "a", "b"],
        [],
        4,
    ],
)
def test_what_is_no_message_is_refused(wrong: Any) -> None:
    """And stays as it is where no type says so; nothing is loaded by its name."""
    with pytest.raises(ValidationError):
        TypeAdapter(list[AnyMessage]).validate_python([wrong])
    assert revive_messages([wrong]) == [wrong]


def test_a_message_is_printed_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """With the calls, and those that are wrong."""
    wrong = {"name": "g", "args": "{", "id": "2", "error": "cut off", "type": "invalid_tool_call"}
    fields: Any = {"tool_calls": [CALL], "invalid_tool_calls": [wrong], "name": "bot"}

    sidecall.AIMessage("x", **fields).pretty_print()
    ours = capsys.readouterr().out
    langchain.AIMessage("x", **fields).pretty_print()

    assert ours == capsys.readouterr().out
    assert ours.splitlines()[0] == "================================== Ai Message =================================="


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": "https://127.0.0.1/a.png"},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
        {"type": "image", "source": {"type": "url", "url": "https://127.0.0.1/a.png"}},
        {"type": "image", "url": "https://127.0.0.1/a.png"},
        {"type": "reasoning", "reasoning": "r"},
        {"type": "thinking", "thinking": "t"},
        {"type": "tool_use", "id": "1", "name": "n", "input": {}},
        {"text": "no type"},
    ],
)
def test_blocks_of_providers_become_langchains(part: Any) -> None:
    """Those that it does not know are not standard."""
    ours, theirs = (kind([part]).content_blocks for kind in (sidecall.HumanMessage, langchain.HumanMessage))

    assert ours == [{key: it for key, it in block.items() if key != "id"} for block in theirs]

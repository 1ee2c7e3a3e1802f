"""ToolCall and ToolMessage are LangChain's, key for key."""

from typing import Any

import pytest
from langchain_core.messages import ToolMessage as LangChainToolMessage
from pydantic import ValidationError

from sidecall import ToolCall, ToolMessage
from sidecall.kernel.core.errors import ToolOutputError
from sidecall.kernel.core.messages import ObjectList, are_blocks, write_text_message


def test_a_tool_message_has_exactly_the_nine_keys() -> None:
    """Each of them means what it means in LangChain."""
    message = ToolMessage(content="42", tool_call_id="call_1")

    assert message.model_dump() == {
        "content": "42",
        "artifact": None,
        "tool_call_id": "call_1",
        "name": None,
        "status": "success",
        "type": "tool",
        "id": None,
        "additional_kwargs": {},
        "response_metadata": {},
    }


def test_a_message_that_is_written_at_once_is_like_any_other() -> None:
    """It can be copied, changed and dumped, and says which fields it was given."""
    fields = {"content": "42", "tool_call_id": "call_1", "name": "t", "id": "i", "response_metadata": {"a": [1]}}

    written = write_text_message("42", "call_1", "t", "i", {"a": [1]})
    changed = written.model_copy(deep=True)
    changed.content = "43"

    assert written == ToolMessage.model_validate(fields)
    assert written.model_dump_json() == ToolMessage.model_validate(fields).model_dump_json()
    assert written.model_dump(exclude_unset=True) == fields
    assert changed == ToolMessage.model_validate({**fields, "content": "43"})


def test_langchain_rebuilds_a_tool_message() -> None:
    """Our keyword arguments are its keyword arguments."""
    ours = ToolMessage(content=["a"], artifact={"b": 1}, tool_call_id="call_1", name="t", status="error", id="i")

    theirs = LangChainToolMessage(**ours.model_dump())

    assert (theirs.content, theirs.artifact, theirs.tool_call_id) == (["a"], {"b": 1}, "call_1")
    assert (theirs.name, theirs.status, theirs.id) == ("t", "error", "i")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("text", "text"),
        (None, "null"),
        (4.5, "4.5"),
        ({"a": [1, True]}, '{"a": [1, true]}'),
        ([1, "a"], '[1, "a"]'),
        (("a", {"type": "text", "text": "b"}), ["a", {"type": "text", "text": "b"}]),
        ([{"any": 1}], [{"any": 1}]),
    ],
)
def test_content_may_come_first_and_be_anything(content: Any, expected: Any) -> None:
    """Said as a plain result would be; LangChain would write Python."""
    assert ToolMessage(content, tool_call_id="c").content == expected
    assert ToolMessage(content=content).content == expected


def test_a_message_is_made_as_in_langchain() -> None:
    """With blocks under their own name, and any id; what JSON cannot say is no content."""
    blocks = [{"type": "text", "text": "a"}]

    assert ToolMessage(content_blocks=blocks).content == blocks
    assert (ToolMessage("a", tool_call_id=7).tool_call_id, ToolMessage("a", tool_call_id=None).tool_call_id) == (
        "7",
        "",
    )
    with pytest.raises(ToolOutputError):
        ToolMessage(object())


@pytest.mark.parametrize("args", [{"a": 1}, '{"a": 1}', "", "not JSON"])
def test_a_tool_call_takes_an_object_or_text(args: dict[str, int] | str) -> None:
    """Whether the text is JSON is for the pipeline to say, to the model."""
    call = ToolCall(name="t", args=args, id="call_1")

    assert call.args == args
    assert call.type == "tool_call"


def test_a_tool_call_cannot_be_changed() -> None:
    """It is shared by everybody who looks at the call."""
    call = ToolCall(name="t", args={}, id="call_1")

    with pytest.raises(ValidationError, match="frozen"):
        call.name = "other"


@pytest.mark.parametrize("wrong", [{"args": [1]}, {"type": "function"}, {"name": None}])
def test_what_is_not_a_tool_call_is_refused(wrong: dict[str, object]) -> None:
    """Arrays are no arguments, and other types have dialects of their own."""
    with pytest.raises(ValidationError):
        ToolCall.model_validate({"name": "t", "args": {}, "id": "call_1", **wrong})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"type": "text", "text": "a"}, "b"], True),
        (({"type": "file", "data": b""},), True),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image"}, {"type": "input_file"}], True),
        ([], False),
        ([{"type": "thought"}], False),
        ([{"type": ["text"]}], False),
        ([1], False),
        ({"type": "text"}, False),
        (ObjectList([{"type": "text", "text": "a"}]), False),
    ],
    ids="blocks tuple responses empty other-type no-type number dict objects".split(),
)
def test_blocks_are_told_from_other_lists(value: object, *, expected: bool) -> None:
    """Objects that only look like blocks are none."""
    assert are_blocks(value) is expected

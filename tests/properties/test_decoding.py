"""However a model writes its arguments, the call is the same."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from sidecall import ToolMessage
from tests.properties.conftest import Post
from tests.properties.runs import examples
from tests.properties.signatures import Program, arguments, programs, running

_TEXTS: tuple[Callable[[Any], str], ...] = (
    json.dumps,
    lambda args: json.dumps(args, ensure_ascii=False, separators=(",", ":")),
    lambda args: f"\n {json.dumps(args, indent=2)}\t",
)
_FENCES = ("```json\n{}\n```", "```\n{}\n```", "\n```JSON\n{}```\n", "  ``` \n\n{}\n\n```  ")
_FENCED = "arguments: taken out of a Markdown fence"
_TWICE = "arguments: JSON text inside JSON text"


@given(program=programs(), write=st.sampled_from(_TEXTS), data=st.data())
@examples(40)
def test_text_is_as_good_as_an_object(program: Program, write: Callable[[Any], str], data: st.DataObject) -> None:
    """The function gets the same, and nothing is said to be repaired."""
    note(program.source)
    with running(program) as made:
        args = data.draw(arguments(program))
        messages = [made.call(args), made.call(write(args))]

        assert [(it.status, it.response_metadata["repaired"]) for it in messages] == [("success", [])] * 2
        assert made.calls[0] == made.calls[1]


@given(
    program=programs(),
    write=st.sampled_from(_TEXTS),
    fence=st.sampled_from([None, *_FENCES]),
    is_twice=st.booleans(),
    data=st.data(),
)
@examples(40)
def test_wrapped_text_is_unwrapped(
    program: Program, write: Callable[[Any], str], fence: str | None, is_twice: bool, data: st.DataObject
) -> None:
    """A Markdown fence, a second encoding and both are taken off, and it is said."""
    note(program.source)
    with running(program) as made:
        args = data.draw(arguments(program))
        text = json.dumps(write(args)) if is_twice else write(args)
        wrapped = fence.replace("{}", text) if fence else text
        note(wrapped)
        messages = [made.call(args), made.call(wrapped)]

        assert [it.status for it in messages] == ["success"] * 2, messages[1].content
        assert messages[1].response_metadata["repaired"] == [
            *([_FENCED] if fence else []),
            *([_TWICE] if is_twice else []),
        ]
        assert made.calls[0] == made.calls[1]


@given(program=programs().filter(lambda program: program.parameters != ()), data=st.data())
@examples(40)
def test_a_container_written_as_text_is_unwrapped(program: Program, data: st.DataObject) -> None:
    """Where only an object or an array fits, its JSON text is read as one, and it is said."""
    note(program.source)
    with running(program) as made:
        args = data.draw(arguments(program))
        closed = {it.key for it in program.parameters if "string" not in it.kind.takes or it.place == "*args"}
        wrapped = [key for key, value in args.items() if key in closed and isinstance(value, (dict, list))]
        sent = {key: json.dumps(value) if key in wrapped else value for key, value in args.items()}
        messages = [made.call(args), made.call(sent)]
        said = [entry.partition(":")[0] for entry in messages[1].response_metadata["repaired"]]

        assert [it.status for it in messages] == ["success"] * 2, messages[1].content
        assert sorted(said) == sorted(wrapped)
        assert made.calls[0] == made.calls[1]


_CALLS: tuple[Callable[[Any], dict[str, Any]], ...] = (
    lambda args: {"name": "generated", "args": args, "id": "call_1", "type": "tool_call"},
    lambda args: {
        "id": "call_1",
        "type": "function",
        "function": {"name": "generated", "arguments": json.dumps(args)},
    },
    lambda args: {"type": "function_call", "call_id": "call_1", "name": "generated", "arguments": json.dumps(args)},
    lambda args: {"type": "tool_use", "id": "call_1", "name": "generated", "input": args},
)


@given(program=programs(), data=st.data())
@examples(40)
def test_every_dialect_makes_the_same_call(post: Post, program: Program, data: st.DataObject) -> None:
    """Over HTTP, each provider's form of a call reaches the function as the call in this process does."""
    note(program.source)
    with running(program) as made:
        args = data.draw(arguments(program))
        message = made.call(args)
        answers = [post(made.tool, write(args)).json() for write in _CALLS]

        assert (message.status, message.content) == ("success", "done"), message.content
        assert [answer.get("content", answer.get("output")) for answer in answers] == ["done"] * 4
        assert ToolMessage.model_validate(answers[0]).status == "success"
        assert made.calls == [made.calls[0]] * 5

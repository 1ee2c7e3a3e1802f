"""A tool in a process is answered for as if it had run in the server."""

import math
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from sidecall import Command, ToolGuardrailFunctionOutput, ToolMessage, ToolOutputGuardrailData, tool_output_guardrail
from sidecall.features.processes.output import ResultBounds, read_output, reduce, write_output
from sidecall.kernel.core.errors import ToolOutputError
from sidecall.kernel.core.messages import ObjectList
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from tests.features.processes.process_tools import (
    ERRORS,
    PAIRS,
    RESULTS,
    Block,
    Plain,
    aparts,
    later,
    pairing,
    parts,
    raising,
    returning,
    series,
)
from tests.kernel.executors.conftest import Answer, answering


def told(message: ToolMessage) -> dict[str, Any]:
    """Leave out what differs from call to call."""
    said = message.model_dump(exclude={"id"})
    del said["response_metadata"]["duration_ms"]
    return said


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        *((returning, {"name": name}) for name in RESULTS),
        *((pairing, {"name": name}) for name in PAIRS),
        *((raising, {"name": name}) for name in ERRORS),
        (later, {"number": 3}),
        (series, {}),
        (parts, {}),
        (aparts, {}),
    ],
    ids=[*RESULTS, *PAIRS, *ERRORS, "later", "series", "parts", "aparts"],
)
async def test_the_answer_is_the_same_as_that_of_a_tool_in_the_server(answer: Answer, tool: Any, args: Any) -> None:
    """No matter what it returns or raises; only texts and artifacts that JSON can say ever reach a caller."""
    threads = ThreadExecutor(1)
    here = answering(InlineExecutor() if tool.compiled.is_async else threads)

    actual = await answer(tool, args)
    expected = await here(replace(tool.compiled, executor="thread"), args)
    await threads.close()

    assert told(actual) == told(expected)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"a": (1, None)}, {"a": (1, None)}),  # JSON knows it, and so do we
        (date(2026, 11, 21), "2026-11-21"),
        ([{1}, math.inf], [[1], math.inf]),
        ({"deep": [{1}, {"x": -math.inf}]}, {"deep": [[1], {"x": -math.inf}]}),
        (Decimal("Infinity"), "Infinity"),
    ],
    ids=["known", "date", "list", "deep", "decimal"],
)
def test_numbers_that_json_lacks_cross(value: Any, plain: Any) -> None:
    """The server says of each where it was lost."""
    assert reduce(value).value == plain


MESSAGE = {"artifact": None, "status": "success", "additional_kwargs": {}}


@pytest.mark.parametrize(
    ("tool", "output", "written"),
    [
        (returning, "text", {"kind": "value", "content": "text"}),
        (returning, [Block()], {"kind": "value", "content": [{"type": "text", "text": "hello"}], "objects": True}),
        (returning, frozenset((1,)), {"kind": "value", "content": [1]}),
        (
            returning,
            ({"type": "file", "data": b"b"},),
            {"kind": "value", "content": [{"type": "file", "data": "Yg=="}]},
        ),
        (pairing, ("text", {1}), {"kind": "value", "content": "text", "artifact": [1]}),
        (
            returning,
            ToolMessage(content="said", artifact={1}, status="error"),
            {"kind": "message", "content": "said", "message": {**MESSAGE, "artifact": [1], "status": "error"}},
        ),
        (
            pairing,
            (Command(update=[("messages", [{"tool_call_id": "", "content": ["a"]}, {"content": "b"}])]), None),
            {
                "kind": "command",
                "content": ["a"],
                "artifact": None,
                "message": MESSAGE,
                "update": {"messages": [{"content": "b"}]},
                "goto": [],
            },
        ),
    ],
    ids="text models set blocks pair message command".split(),
)
def test_all_that_tools_return_crosses_in_one_shape(tool: Any, output: Any, written: Any) -> None:
    """With the content at the top, where a long text crosses as it is."""
    assert write_output(tool.compiled, output, "call_1") == written


def test_objects_are_no_blocks_on_the_other_side() -> None:
    """Though nothing else is left of what they were."""
    written = {"kind": "value", "content": [{"type": "text", "text": "hello"}], "objects": True}
    output = read_output(returning.compiled, written, "call_1")

    assert output == [{"type": "text", "text": "hello"}]
    assert type(output) is ObjectList


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (Plain(), "Plain"),
        (ToolMessage(content="said", artifact=Plain()), "Plain as the artifact"),
        (ToolMessage(content="said", additional_kwargs={"a": Plain()}), "Plain at `a` of the additional_kwargs"),
        (Command(goto=Plain()), "Plain as the goto"),
    ],
    ids="value artifact kwargs goto".split(),
)
def test_what_json_has_no_form_for_is_named(output: Any, kind: str) -> None:
    """As the server names it."""
    with pytest.raises(ToolOutputError) as caught:
        write_output(returning.compiled, output, "call_1")

    assert caught.value.message == f"Error: returning returned a value of type {kind}, which cannot be said in JSON."


def test_a_message_that_stands_alone_in_a_command_stays_a_message() -> None:
    """As where a tool has all messages removed."""
    removal = {"id": "__remove_all__"}
    written = write_output(returning.compiled, Command(update={"messages": removal}), "call_1")
    output = read_output(returning.compiled, written, "call_1")

    assert output.update["messages"][1:] == [removal]


async def test_guardrails_see_the_plain_values(answer: Answer) -> None:
    """Of models the objects, not the text that the model will read."""
    seen: list[Any] = []

    @tool_output_guardrail
    def look(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        seen.append(data.output)
        return ToolGuardrailFunctionOutput.allow()

    options = replace(returning.compiled.options, tool_output_guardrails=(look,))
    await answer(replace(returning.compiled, options=options), {"name": "models"})
    await answer(replace(returning.compiled, options=options), {"name": "text"})

    assert seen == [[{"type": "text", "text": "hello"}], "grüße \ud800"]


@pytest.mark.parametrize(
    ("tool", "output", "written"),
    [
        (returning, {"a": [1, 2]}, {"content": {"a": [1, 2]}}),
        (returning, {"a": ["grün"] * 8}, {"content": '{"a": ["' + '", "'.join(["grün"] * 8) + '"]}'}),
        (
            returning,
            {"a": date(2026, 11, 21), "b": "x" * 40},
            {"content": '{"a": "2026-11-21", "b": "' + "x" * 40 + '"}'},
        ),
        (returning, "x" * 500, {"content": "x" * 500}),
        (returning, ["x" * 50], {"content": ["x" * 50]}),  # blocks, of which an answer keeps the small ones
        (returning, ["x" * 120], {"content": '["' + "x" * 120 + '"]'}),
        (returning, [math.nan, "x" * 50, 1], {"content": [math.nan, "x" * 50, 1]}),  # the server says where it was
        (returning, [math.nan, "x" * 120, 1], {"content": '[null, "' + "x" * 120 + '", 1]'}),
        (pairing, ("short", ["x" * 90]), {"content": "short", "artifact": ["x" * 90]}),
        (pairing, ("short", ["ü" * 45]), {"content": "short", "artifact": ["ü" * 45]}),  # as many bytes in the answer
        (returning, ToolMessage(content=["x" * 120], tool_call_id="1"), {"content": '["' + "x" * 120 + '"]'}),
    ],
    ids=[
        *("small", "large", "unknown to JSON", "text", "blocks", "large blocks", "nan", "large with nan"),
        *("artifact", "artifact in UTF-8", "message"),
    ],
)
def test_large_contents_cross_as_text(tool: Any, output: Any, written: dict[str, Any]) -> None:
    """From 40 bytes on, or from 100 on what is more to an answer than its text."""
    actual = write_output(tool.compiled, output, "call_1", ResultBounds(40, 100))

    assert repr({key: actual[key] for key in written}) == repr(written)


ANSWER = [ToolMessage(content="", tool_call_id="call_1")]


@pytest.mark.parametrize(
    ("tool", "output", "what"),
    [
        (pairing, ("short", ["x" * 97]), "pairing returned an artifact of 101 bytes"),
        (pairing, ("short", ["ü" * 49]), "pairing returned an artifact of 102 bytes"),
        (returning, Command(update={"messages": ANSWER, "rows": [1] * 60}), "returning returned a state update of 1"),
        (returning, ToolMessage(content="", tool_call_id="1", artifact="x" * 99), "returning returned"),
    ],
    ids=["artifact", "artifact in UTF-8", "update", "message"],
)
def test_what_is_too_large_does_not_cross(tool: Any, output: Any, what: str) -> None:
    """The model and the program read why."""
    with pytest.raises(ToolOutputError, match=rf"^Error: {what}.* as JSON; at most 100 are passed on\.$"):
        write_output(tool.compiled, output, "call_1", ResultBounds(40, 100))

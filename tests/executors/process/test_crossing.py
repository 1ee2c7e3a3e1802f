"""A tool in a process is answered for as if it had run in the server."""

import math
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from sidecall import Tool, ToolMessage
from sidecall.executors.inline import InlineExecutor
from sidecall.executors.process.crossing import home_of, plain_of
from sidecall.executors.thread import ThreadExecutor
from tests.executors.conftest import Answer, answering
from tests.executors.process import process_tools
from tests.executors.process.process_tools import (
    ERRORS,
    PAIRS,
    RESULTS,
    aparts,
    later,
    pairing,
    parts,
    raising,
    returning,
)


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
        (parts, {}),
        (aparts, {}),
    ],
    ids=[*RESULTS, *PAIRS, *ERRORS, "later", "parts", "aparts"],
)
async def test_the_answer_is_the_same_as_that_of_a_tool_in_the_server(answer: Answer, tool: Any, args: Any) -> None:
    """Whatever it returns or raises; only texts and artifacts that JSON can say ever reach a caller."""
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
    assert plain_of(value) == plain


def test_the_home_of_a_tool_is_where_its_author_wrote_it() -> None:
    """Also when a function of ours stands for it."""
    wrapped = Tool("wrapped", lambda text: text, executor="process")

    assert home_of(wrapped.compiled)["file"] == __file__
    assert home_of(later.compiled) == {
        "name": "later",
        "module": "tests.executors.process.process_tools",
        "file": process_tools.__file__,
    }

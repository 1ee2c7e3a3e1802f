"""A tool may ask who calls it, with what, and for how long."""

import asyncio
import copy
import dataclasses
import logging
import math
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

from sidecall import Caller, RunContextWrapper, ToolContext, Usage, tool
from sidecall.kernel.core.context import Signals
from tests.kit.calls import run


def _context(**fields: Any) -> ToolContext:
    return ToolContext(tool_name="search", tool_call_id="call_1", invocation_id="i", **fields)


def test_nobody_in_particular_asks_by_default() -> None:
    """Without authentication everybody is anonymous and may do everything."""
    context = _context()

    assert context.caller == Caller(subject="anonymous", tenant="default", scopes=frozenset("*"))
    assert (context.state, context.context, context.headers) == (None, {}, {})


def test_a_context_cannot_be_changed() -> None:
    """A tool cannot make itself somebody else."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        _context().caller = Caller("root")  # type: ignore[misc]  # what is being refused


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({}, None, None),
        ({"approved": True}, True, None),
        ({"approved": True, "rejection": "no"}, False, "no"),
    ],
)
def test_it_knows_what_was_decided_about_its_call(fields: Any, status: bool | None, message: str | None) -> None:
    """And about no other."""
    context = _context(**fields)

    assert context.is_tool_approved("search", "call_1") is status
    assert context.get_approval_status("search", "call_1", existing_pending=None) is status
    assert context.get_rejection_message("search", "call_1") == message
    assert [context.is_tool_approved(*other) for other in (("search", "call_2"), ("find", "call_1"))] == [None, None]


def test_one_can_be_made_in_a_test() -> None:
    """By position and by name, as in the OpenAI Agents SDK."""
    made: ToolContext[Any] = ToolContext({"a": 1}, Usage(requests=2), "search", "call_1", '{"q": 1}')
    item = SimpleNamespace(name="find", arguments='{"x": 2}')
    of_item = ToolContext.from_agent_context(RunContextWrapper("u"), "call_2", item)

    assert (made.context, made.usage.requests, made.tool_arguments, made.args) == ({"a": 1}, 2, '{"q": 1}', '{"q": 1}')
    assert (of_item.context, of_item.tool_name, of_item.tool_arguments) == ("u", "find", '{"x": 2}')
    assert copy.copy(made) == pickle.loads(pickle.dumps(made)) == made
    assert isinstance(made, RunContextWrapper)
    with pytest.raises(ValueError, match="tool_name must be passed to ToolContext"):
        ToolContext.from_agent_context(made, "call_3")


@pytest.mark.parametrize(
    ("deadline", "expected"),
    [
        # no deadline
        (None, None),
        # passed long ago
        (-math.inf, 0.0),
        (math.inf, math.inf),
    ],
)
def test_the_remaining_time_is_never_negative(deadline: float | None, expected: float | None) -> None:
    """None means for ever."""
    assert _context(deadline=deadline).remaining == expected


def test_log_lines_carry_the_ids_of_the_call(caplog: pytest.LogCaptureFixture) -> None:
    """An operator finds the call that a line belongs to."""
    with caplog.at_level(logging.INFO, "sidecall.tool"):
        _context().log.info("%s pages", 3)

    assert caplog.record_tuples == [("sidecall.tool", logging.INFO, "[search call_1] 3 pages")]


async def test_a_tool_is_told_about_its_call() -> None:
    """What the caller sent beside the call is there as it was sent."""

    @tool(timeout=1000)
    async def look(q: str, tell: ToolContext) -> dict[str, Any]:
        """Look around."""
        return {
            "ids": [tell.tool_name, tell.tool_call_id],
            "sent": [tell.state, tell.context],
            "has_time": 0 < (tell.remaining or 0) <= 1000,
        }

    message = await run(look, {"q": "x"}, state=[1], context={"k": 2})

    assert message.content == '{"ids": ["look", "call_1"], "sent": [[1], {"k": 2}], "has_time": true}'


@pytest.mark.parametrize(
    ("call_id", "prefix"),
    [("call_1", "[search call_1]"), ("100%", "[search 100%]"), ("%s %d", "[search %s %d]")],
)
def test_whatever_a_call_is_called_its_lines_are_written(
    caplog: pytest.LogCaptureFixture, call_id: str, prefix: str
) -> None:
    """The id comes from outside, and may look like a format."""
    context = dataclasses.replace(_context(), tool_call_id=call_id)

    with caplog.at_level(logging.INFO, "sidecall.tool"):
        context.log.info("%s pages", 3)

    assert caplog.messages == [f"{prefix} 3 pages"]


PROGRESS: list[Any] = [
    ((3, 10, "third page"), {"done": 3, "total": 10, "message": "third page"}, "progress 3 of 10 third page"),
    ((0.5,), {"done": 0.5, "total": None, "message": ""}, "progress 0.5 of None "),
    (
        (1234567, 2000000, "rows, 100% sure"),
        {"done": 1234567, "total": 2000000, "message": "rows, 100% sure"},
        "progress 1234567 of 2000000 rows, 100% sure",
    ),
]


@pytest.mark.parametrize(("given", "heard", "line"), PROGRESS)
async def test_a_tool_says_how_far_it_has_come(
    caplog: pytest.LogCaptureFixture, given: Any, heard: dict[str, Any], line: str
) -> None:
    """To the listeners of the call and to the log, from async tools and from others."""
    told: list[Any] = []
    context = _context(signals=Signals(listener=lambda *event: told.append(event)))

    with caplog.at_level(logging.DEBUG, "sidecall.tool"):
        await context.progress(*given)
        context.report_progress(*given)

    assert told == [("progress", "call_1", heard)] * 2
    assert caplog.messages == [f"[search call_1] {line}"] * 2


async def test_others_have_their_turn_while_a_tool_says_how_far_it_has_come() -> None:
    """Also where it awaits nothing else, so that its deadline can end it."""
    context = _context()

    async def report() -> None:
        while True:
            await context.progress(1)

    reporting = asyncio.create_task(report())
    await asyncio.sleep(0)
    reporting.cancel()

    assert await asyncio.gather(reporting, return_exceptions=True) != [None]
    assert reporting.cancelled()


def test_progress_that_nobody_listens_to_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    """The log has it when one looks closely."""
    with caplog.at_level(logging.INFO, "sidecall.tool"):
        _context().report_progress(3, 10)

    assert caplog.messages == []


def test_a_tool_may_ask_whether_anybody_still_waits() -> None:
    """It is told by those around the call."""
    context = _context()
    before = context.cancelled

    context.signals.cancelled = True

    assert (before, context.cancelled) == (False, True)


async def test_a_tool_may_report_progress_while_it_runs(caplog: pytest.LogCaptureFixture) -> None:
    """Under the names of its own call."""

    @tool
    def count(ctx: ToolContext) -> str:
        """Count."""
        ctx.report_progress(1, 2, "one")
        return "done"

    with caplog.at_level(logging.DEBUG, "sidecall.tool"):
        await count.ainvoke({"type": "tool_call", "args": {}, "id": "call_9"})

    assert "[count call_9] progress 1 of 2 one" in caplog.messages

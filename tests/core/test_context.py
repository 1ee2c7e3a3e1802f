"""A tool may ask who calls it, with what, and for how long."""

import dataclasses
import logging
import math
from typing import Any

import pytest

from app import Caller, ToolContext, tool


def _context(**fields: Any) -> ToolContext:
    return ToolContext(tool_name="search", tool_call_id="call_1", invocation_id="i", **fields)


def test_nobody_in_particular_asks_by_default() -> None:
    """Without authentication everybody is anonymous and has no scopes."""
    context = _context()

    assert context.caller == Caller(subject="anonymous", tenant="default", scopes=frozenset())
    assert (context.state, context.context, context.headers) == (None, {}, {})


def test_a_context_cannot_be_changed() -> None:
    """A tool cannot make itself somebody else."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        _context().caller = Caller("root")  # type: ignore[misc]  # what is being refused


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

    message = await look.ainvoke(
        {"type": "tool_call", "name": "look", "args": {"q": "x"}, "id": "call_1"}, state=[1], context={"k": 2}
    )

    assert message.content == '{"ids": ["look", "call_1"], "sent": [[1], {"k": 2}], "has_time": true}'

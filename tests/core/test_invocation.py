"""A call on its way has an id that sorts by time and a deadline."""

import uuid

import pytest

from app import ToolCall, ToolContext, tool
from app.core.invocation import CallRequest, new_invocation, new_invocation_id

REQUEST = CallRequest(ToolCall(name="wait", args={}, id="call_1"), state=1, context={"a": 2}, headers={"h": "3"})


def test_ids_are_uuids_that_sort_by_time() -> None:
    """Version 7."""
    first, second = new_invocation_id(), new_invocation_id()

    assert uuid.UUID(first).version == 7
    assert first < second


@pytest.mark.parametrize(
    ("own", "default", "expected"),
    [
        (None, None, None),
        (None, 30.0, 30.0),
        (5.0, 30.0, 5.0),
        (5.0, None, 5.0),
    ],
)
def test_a_tools_own_timeout_beats_the_servers(
    own: float | None, default: float | None, expected: float | None
) -> None:
    """Without either it may run for ever."""
    wait = tool("wait", timeout=own, description="Wait.")(lambda: None)

    invocation = new_invocation(REQUEST, wait.compiled, default)
    allowed = None if invocation.deadline is None else round(invocation.deadline - invocation.started, 6)

    assert allowed == expected


def test_a_call_carries_what_it_may_be_injected_with() -> None:
    """The tool's view of the call is made of it."""
    wait = tool("wait", description="Wait.")(lambda: None)
    invocation = new_invocation(REQUEST, wait.compiled, None)

    supply = invocation.supply()

    assert (supply.call_id, supply.state, supply.context) == ("call_1", 1, {"a": 2})
    assert supply.tool_context == ToolContext(
        tool_name="wait",
        tool_call_id="call_1",
        invocation_id=invocation.id,
        state=1,
        context={"a": 2},
        headers={"h": "3"},
    )

"""An approval says which call waits, and a decision what becomes of it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from sidecall import ToolCall
from sidecall.core.approval import Approval, ApprovalRequired, Decision

APPROVAL = Approval(
    id="7",
    tool_call=ToolCall(name="delete_order", args={"order": 7}, id="call_1"),
    requested_by="anonymous",
    created_at=datetime(2026, 11, 21, 10, tzinfo=UTC),
    expires_at=datetime(2026, 11, 21, 11, tzinfo=UTC),
)


def test_a_new_approval_is_pending() -> None:
    """Nobody has decided, and there is no answer yet."""
    assert APPROVAL.model_dump(mode="json") == {
        "id": "7",
        "status": "pending",
        "tool_call": {"name": "delete_order", "args": {"order": 7}, "id": "call_1", "type": "tool_call"},
        "requested_by": "anonymous",
        "created_at": "2026-11-21T10:00:00Z",
        "expires_at": "2026-11-21T11:00:00Z",
        "decided_at": None,
        "decided_by": None,
        "reason": None,
        "message": None,
    }


def test_a_call_that_waits_says_for_what() -> None:
    """The approval goes with the error."""
    error = ApprovalRequired(APPROVAL)

    assert error.message == "delete_order waits for a person's approval (7)."
    assert error.approval is APPROVAL


def test_a_decision_may_be_the_one_word() -> None:
    """The call runs as it came."""
    assert Decision.model_validate({"decision": "approve"}).model_dump() == {
        "decision": "approve",
        "args": None,
        "reason": None,
    }


WRONG: list[Any] = [
    pytest.param({}, ("decision",), id="nothing"),
    pytest.param({"decision": "Approve"}, ("decision",), id="capital"),
    pytest.param({"decision": True}, ("decision",), id="bool"),
    pytest.param({"decision": "approve", "args": "{}"}, ("args",), id="text for args"),
    pytest.param({"decision": "reject", "reason": 5}, ("reason",), id="number for reason"),
    pytest.param({"decision": "reject", "reason": "x" * 10_001}, ("reason",), id="long reason"),
    # a person who misspells `args` must not have run what they meant to change
    pytest.param({"decision": "approve", "arguments": {"order": 8}}, ("arguments",), id="unknown member"),
]


@pytest.mark.parametrize(("given", "loc"), WRONG)
def test_a_wrong_decision_is_located(given: dict[str, Any], loc: tuple[str, ...]) -> None:
    """Nothing is guessed where a person has to be sure."""
    with pytest.raises(ValidationError) as caught:
        Decision.model_validate(given)

    assert [error["loc"] for error in caught.value.errors()] == [loc]

"""The end of a call is said in one word."""

import asyncio
from typing import Any

import pytest

from sidecall import ToolException, ToolMessage
from sidecall.kernel.core.errors import CallDenied, GuardrailTripped, MissingContext, ToolCallFailed, ToolTimeout
from sidecall.kernel.core.invocation import new_invocation
from sidecall.kernel.core.overload import Overloaded, QuotaExceeded, TooManyCalls
from sidecall.kernel.core.quota import Quota
from sidecall.kernel.pipeline.gate import find_outcome, find_outcome_of_error
from tests.kit.calls import write_request
from tests.kit.tools import ping


@pytest.mark.parametrize(
    ("failure", "status", "outcome"),
    [
        (None, "success", "success"),
        (None, "error", "tool_error"),  # a message of the tool's own that says so
        (ToolException("No."), "error", "tool_error"),
        (ToolTimeout("ping", 1), "error", "timeout"),
        (CallDenied(), "success", "denied"),  # a guardrail may word its refusal as it likes
    ],
)
def test_an_answer_ends_in_success_or_in_a_kind_of_failure(failure: Any, status: str, outcome: str) -> None:
    """Which is the kind that the model is told."""
    invocation = new_invocation(write_request("ping"), ping.compiled, None)
    invocation.error = failure
    invocation.message = ToolMessage(content="", tool_call_id="call_1", name="ping", status=status)

    assert find_outcome(invocation) == outcome


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ToolCallFailed("No.", kind="timeout"), "timeout"),
        (GuardrailTripped(), "denied"),
        (MissingContext(), "missing_context"),
        (Overloaded("Full.", retry_after=1), "overloaded"),
        (TooManyCalls("Yours.", retry_after=1), "overloaded"),
        (QuotaExceeded(Quota(most=1, seconds=1, left=0, more_in=1)), "overloaded"),
        (asyncio.CancelledError(), "cancelled"),
        (GeneratorExit(), "cancelled"),
        (ZeroDivisionError(), "internal_error"),
    ],
)
def test_a_call_without_an_answer_ends_in_one_of_few_words(error: BaseException, outcome: str) -> None:
    """No matter what the error says."""
    invocation = new_invocation(write_request("ping"), ping.compiled, None)
    invocation.fail(error)

    assert find_outcome_of_error(error) == outcome
    assert find_outcome(invocation) == outcome

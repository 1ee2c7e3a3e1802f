"""Agents of Google's ADK work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent
WAITS = "refund waits until a person has decided about it. It has not run."


@pytest.fixture(scope="module")
def told(desk: Server) -> Any:
    """What came of agents."""
    return run_framework("frameworks-newer", HERE / "use_google_adk.py", desk.url)


def test_calls_failures_and_state_come_across(told: Any) -> None:
    """A failure is below `error`; the state is the session's, unless functions of the context give another."""
    number = {"description": "Not below zero.", "type": "integer"}
    assert told["listed"] == {"type": "object", "properties": {"number": number}, "required": ["number"]}
    assert told["called"] == [
        ["double", {"error": "number: Input should be an integer"}],
        ["fail", {"error": "No pencil."}],
        ["find", {"result": "tea for ada"}],
        ["recall", {"result": "of the state"}],
    ]
    assert told["large"] == [["repeat_number", {"result": "1152921504606846977 None"}]]


def test_a_refused_call_is_mended(told: Any) -> None:
    """The model reads what was wrong."""
    assert told["mended"] == [
        ["double", {"error": "number: Input should be an integer"}],
        ["double", {"result": "8"}],
    ]


def test_artifacts_go_to_callbacks(told: Any) -> None:
    """Each call has the id that the model gave it."""
    assert (told["seen"], told["ids"]) == ([["find", {"rows": ["tea"]}]], True)


@pytest.mark.parametrize(
    ("decision", "tool", "args", "answer"),
    [
        ("approved", "refund", {"order": 7}, {"result": "Refunded 100 for order 7."}),
        ("changed", "refund", {"order": 7}, {"result": "Refunded 1 for order 7."}),
        ("rejected", "refund", {"order": 8}, {"error": "Ask for a receipt."}),
        ("asks itself", "pay_out", {"amount": 5}, {"result": "Paid 5."}),
    ],
)
def test_an_approval_is_a_confirmation(told: Any, decision: str, tool: str, args: Any, answer: Any) -> None:
    """The run goes on with what a person has said."""
    assert told[decision] == [[tool, args], 0, [[tool, answer]]]


def test_an_approval_may_be_words_for_the_model(told: Any) -> None:
    """The call has not failed; it waits."""
    assert told["told"] == [["refund", {"result": WAITS}]]


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

"""Agents of Strands work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent
WAITS = "refund waits until a person has decided about it. It has not run."


@pytest.fixture(scope="module")
def told(desk: Server, shipped: Server) -> Any:
    """What came of agents."""
    code = read_recipe("Strands").replace("http://127.0.0.1:8000", shipped.url)
    return run_framework("frameworks-newer", HERE / "use_strands.py", desk.url, RECIPE=code)


def test_calls_failures_and_state_come_across(told: Any) -> None:
    """A failure has Strands' own status; images are its own, and other media are named."""
    number = {"description": "Not below zero.", "type": "integer"}
    assert told["listed"] == {"type": "object", "properties": {"number": number}, "required": ["number"]}
    assert sorted(told["called"]) == [
        ["double", "error", ["number: Input should be an integer"]],
        [
            "draw",
            "success",
            [
                "Drawn.",
                "image",
                "[image: https://x.test/a.png]",
                "[file: application/pdf]",
                "[file: text/plain]",
                "[file: https://x.test/a.pdf]",
            ],
        ],
        ["fail", "error", ["No pencil."]],
        ["find", "success", ["tea for Ada"]],
        ["recall", "success", ["of the state"]],
    ]
    assert told["large"] == [["repeat_number", "success", ["1152921504606846977 None"]]]


def test_a_refused_call_is_mended(told: Any) -> None:
    """The model reads what was wrong."""
    assert told["mended"] == [
        ["double", "error", ["number: Input should be an integer"]],
        ["double", "success", ["8"]],
    ]


def test_artifacts_go_to_the_program(told: Any) -> None:
    """They are in the metadata of results, which no model reads."""
    assert (told["artifacts"], told["read"]) == ([{"rows": ["tea"]}], False)


@pytest.mark.parametrize(
    ("decision", "tool", "args", "status", "text"),
    [
        ("approved", "refund", {"order": 7}, "success", "Refunded 100 for order 7."),
        ("changed", "refund", {"order": 7}, "success", "Refunded 1 for order 7."),
        ("rejected", "refund", {"order": 8}, "error", "Ask for a receipt first."),
        ("asks itself", "pay_out", {"amount": 5}, "success", "Paid 5."),
    ],
)
def test_an_approval_interrupts_the_agent(
    told: Any, decision: str, tool: str, args: Any, status: str, text: str
) -> None:
    """It goes on with what a person has said."""
    assert told[decision] == ["interrupt", [[tool, args]], "end_turn", [[tool, status, [text]]]]


def test_an_approval_may_be_words_for_the_model(told: Any) -> None:
    """The call has not failed; it waits."""
    assert told["told"] == [["refund", "success", [WAITS]]]


def test_progress_is_in_the_events(told: Any) -> None:
    """Parts of an answer too."""
    assert told["progress"] == ["begun", "a", "word"]


def test_the_code_of_the_page_runs(told: Any) -> None:
    """On the real package, with a scripted model."""
    assert told["recipe"] == "The result is 42."


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

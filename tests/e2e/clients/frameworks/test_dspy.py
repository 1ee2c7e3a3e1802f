"""Modules of DSPy work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent
FAILED = "Execution error in {}: \nsidecall.client.dspy.CallFailed: {}"


@pytest.fixture(scope="module")
def told(desk: Server) -> Any:
    """What came of modules."""
    return run_framework("frameworks-newer", HERE / "use_dspy.py", desk.url, RECIPE=read_recipe("DSPy"))


def test_tools_are_offered_as_the_server_lists_them(told: Any) -> None:
    """Whole to models that call functions, and without references in instructions."""
    listed = told["listed"][1]
    assert (listed["required"], listed["properties"]["among"]["default"]) == (["number"], None)
    assert told["nested"] == {"description": "One line of an order.", "type": "object"}


@pytest.mark.parametrize("awaited", [False, True])
def test_answers_artifacts_and_state_come_across(told: Any, awaited: bool) -> None:
    """A trajectory has the artifact, and no model reads it; a copied module has its tools."""
    answers = [["tea for Ada", {"rows": ["tea"]}], ["of the state", None]]
    assert told[f"called {awaited}"] == [answers, "Done.", False]


@pytest.mark.parametrize("awaited", [False, True])
def test_failures_raise_and_are_mended(told: Any, awaited: bool) -> None:
    """The model reads the reason, and no traceback."""
    wrong = FAILED.format("double", "number: Input should be an integer")
    assert told[f"mended {awaited}"] == [wrong, "2361183241434822606848"]


def test_failures_are_errors_of_results(told: Any) -> None:
    """Nested arguments and nulls arrive."""
    failed = FAILED.format("fail", "No pencil.")
    assert told["failed"] == [failed, "1 lines"]
    assert told["results"] == [[[failed, True], ["tea for Ada", False]], {"rows": ["tea"]}]


def test_a_person_decides(told: Any) -> None:
    """By `ask`; without it the model reads that the call waits, which is no error."""
    assert told["waits"] == ["refund waits until a person has decided about it. It has not run."]
    assert told["approved"] == ["Refunded 100 for order 7."]
    assert told["rejected"] == [FAILED.format("refund", "Too much.")]


def test_progress_is_a_status_message(told: Any) -> None:
    """Of programs that are streamed, awaited or not."""
    assert [it[1:-1] for it in told["progress"]] == [["write: 1/2 begun", "write: two", "write: words"]] * 2


def test_the_code_of_the_page_runs(told: Any) -> None:
    """With one line for the tools."""
    assert told["recipe"] == "Done."


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

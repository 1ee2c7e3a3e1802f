"""Agents of CAMEL work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def told(desk: Server) -> Any:
    """What came of agents."""
    return run_framework("frameworks-crewai", HERE / "use_camel.py", desk.url, RECIPE=read_recipe("CAMEL"))


def test_tools_are_offered_as_the_server_lists_them(told: Any) -> None:
    """With their choices and defaults."""
    listed = told["listed"][1]
    assert (listed["required"], listed["properties"]["among"]["default"]) == (["number"], None)


@pytest.mark.parametrize("awaited", [False, True])
def test_answers_artifacts_and_state_come_across(told: Any, awaited: bool) -> None:
    """The record of a call has the artifact, and no model reads it; a cloned agent has its tools."""
    answers = [["tea for Ada", {"rows": ["tea"]}], ["of the state", None]]
    assert told[f"called {awaited}"] == [answers, "Done.", False]


@pytest.mark.parametrize("awaited", [False, True])
def test_failures_raise_and_are_mended(told: Any, awaited: bool) -> None:
    """The model reads the reason; large integers arrive."""
    *failures, answer = told[f"failed {awaited}"]
    assert all(text.startswith("Tool execution failed: ") for text in failures)
    assert [text.rpartition(": ")[2] for text in failures] == ["No pencil.", "Input should be an integer"]
    assert answer == "2361183241434822606848"


def test_nested_arguments_and_images_come_across(told: Any) -> None:
    """Images that an agent can show to its model; the others are named."""
    assert told["nested"] == ["1 lines"]
    (text,), images = told["drawn"]
    assert text.splitlines()[:3] == ["Drawn.", "[image: image/png]", "[image: https://x.test/a.png]"]
    assert images == ["data:image/png;base64,+vv8/f7/"]


def test_a_person_decides(told: Any) -> None:
    """By `ask`; without it the model reads that the call waits, which is no failure."""
    assert told["waits"] == "refund waits until a person has decided about it. It has not run."
    assert told["approved"] == ["Refunded 100 for order 7."]
    assert [text.rpartition("Error: ")[2] for text in told["rejected"]] == ["Too much."]


def test_progress_goes_to_the_program(told: Any) -> None:
    """CAMEL has no events of tools."""
    assert told["progress"] == ["begun", "two", "words"]


def test_the_code_of_the_page_runs(told: Any) -> None:
    """With one line for the tools."""
    assert told["recipe"] == "Done."


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

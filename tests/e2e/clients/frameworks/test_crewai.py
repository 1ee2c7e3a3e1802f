"""Agents of CrewAI work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def told(desk: Server) -> Any:
    """What came of agents."""
    return run_framework("frameworks-crewai", HERE / "use_crewai.py", desk.url, RECIPE=read_recipe("CrewAI"))


def test_tools_are_offered_as_the_server_lists_them(told: Any) -> None:
    """With their choices and defaults."""
    order = {"order": {"type": "integer"}, "amount": {"default": 100, "type": "integer"}}
    to = {"anyOf": [{"type": "integer"}, {"type": "string"}], "default": 0}
    assert told["listed"][1:] == [order, {**to, "description": "The address, or its number."}]


def test_answers_artifacts_and_state_come_across(told: Any) -> None:
    """To agents that call functions, and to those that write what to do; hooks get the artifact, no model does."""
    assert told["called"] == [["tea for Ada", "of the state"], [{"rows": ["tea"]}, None], "Done."]
    assert told["artifact"] is False
    failures = [["double", "tool_reported", "Not below zero."]]
    assert told["written"] == [["tea for Ada", "Not below zero."], [{"rows": ["tea"]}], failures, "Done."]
    assert told["awaited"] == "noted: tea"


def test_failures_are_crewais_and_are_mended(told: Any) -> None:
    """They are among the failures of the task; large integers and nulls arrive."""
    wrong = "number: Input should be an integer"
    assert told["mended"] == [[wrong, "2361183241434822606848", "1 lines"], [["double", "invalid_input", wrong]]]
    assert told["failed"] == [["No pencil."], [["fail", "tool_reported", "No pencil."]], True]


def test_a_person_decides(told: Any) -> None:
    """By `ask`; without it the model reads that the call waits, which is no failure."""
    assert told["waits"] == [["refund waits until a person has decided about it. It has not run."], []]
    assert told["approved"] == [["Refunded 100 for order 7."], []]
    assert told["rejected"] == [["Too much."], [["refund", "tool_reported", "Too much."]]]


def test_the_same_call_is_made_again(told: Any) -> None:
    """CrewAI's cache does not answer in the place of the server."""
    assert told["twice"] == [["8", "8"], True]


def test_progress_is_on_the_event_bus(told: Any) -> None:
    """With the parts of an answer that come early."""
    parts = [["write", None, None, None, word] for word in ("two", "words")]
    assert told["progress"] == [["write", 1.0, 2.0, "begun", None], *parts]


def test_the_code_of_the_page_runs(told: Any) -> None:
    """With one line for the tools."""
    assert told["recipe"] == "Done."


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

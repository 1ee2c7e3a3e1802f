"""Agents of smolagents work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def told(desk: Server) -> Any:
    """What came of agents."""
    return run_framework("frameworks-newer", HERE / "use_smolagents.py", desk.url, RECIPE=read_recipe("smolagents"))


def test_parameters_are_in_the_form_of_smolagents(told: Any) -> None:
    """Each has a type, and is nullable where it may be left out; choices and nested schemas stay."""
    _, repeat_number, repeat_any = told["listed"]
    among = repeat_number["properties"]["among"]
    assert (repeat_number["required"], among["type"], among["nullable"]) == (["number"], "array", True)
    assert [it["type"] for it in among["items"]["anyOf"]] == ["integer", "object"]
    assert repeat_any["properties"]["value"]["type"] == ["string", "integer", "number", "boolean", "array", "object"]
    assert told["nested"] == {"description": "One line of an order.", "type": "object"}
    choices = {"allOf": [{"anyOf": [{"type": "string"}, {"enum": [1.5, None]}]}], "default": "all", "nullable": True}
    assert told["choices"] == {"value": {**choices, "type": ["string", "number", "integer"], "description": ""}}


def test_answers_and_state_come_across(told: Any) -> None:
    """To agents that call tools, and to those that write code."""
    assert told["called"] == [["of the state", "tea for Ada"], "Done.", []]
    assert told["code"] == ["tea for Ada", []]
    assert told["painted"] == "[image: image/png]"


def test_artifacts_are_out_of_reach_of_a_models_code(told: Any) -> None:
    """A function of the program gets them."""
    assert told["artifact"] == [[{"rows": ["tea"]}], False]
    assert told["hidden"] == ["over", ["AgentExecutionError"]]


def test_failures_are_errors_of_the_step_and_are_mended(told: Any) -> None:
    """The framework checks types itself, the server the rest; large integers and nulls arrive."""
    types = ["Argument number has type 'string' but should be 'integer'", "Argument number is required"]
    assert told["mended"] == [[None, "2361183241434822606848"], [["AgentToolCallError", text] for text in types]]
    ((kind, text),) = told["refused there"]["errors"]
    assert kind == "AgentToolExecutionError"
    assert "ToolFailed: lines[0].amount: Input should be a number, at most 100, greater than 0" in text
    assert told["refused there"]["observed"] == [None, "1 lines", "Done."]
    ((kind, text),) = told["failed"][0]
    assert (kind, "ToolFailed: No pencil." in text, told["failed"][1]) == ("AgentToolExecutionError", True, True)


def test_a_person_decides(told: Any) -> None:
    """By `ask`; without it the model reads that the call waits, which is no error."""
    assert told["waits"] == "refund waits until a person has decided about it. It has not run."
    assert told["approved"] == ["Refunded 100 for order 7.", []]
    observed, ((kind, text),) = told["rejected"]
    assert (observed, kind, "ToolFailed: Too much." in text) == (None, "AgentToolExecutionError", True)


def test_progress_goes_to_the_program(told: Any) -> None:
    """The framework has no events of tools."""
    assert told["progress"] == ["begun", "two", "words"]


def test_the_code_of_the_page_runs(told: Any) -> None:
    """With one line for the tools."""
    assert told["recipe"] == "Done."


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

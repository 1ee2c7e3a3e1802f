"""Agents of Semantic Kernel work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent
# What the kernel says to the model before the reason.
SAID = "An error occurred while invoking the function sidecall-"


@pytest.fixture(scope="module")
def told(desk: Server) -> Any:
    """What came of agents."""
    return run_framework(
        "frameworks-crewai", HERE / "use_semantic_kernel.py", desk.url, RECIPE=read_recipe("Semantic Kernel")
    )


def test_tools_are_offered_as_the_server_lists_them(told: Any) -> None:
    """With their choices and defaults, and without references, which a parameter of a kernel cannot have."""
    listed = told["listed"][1]
    assert (listed["required"], listed["properties"]["among"]["default"]) == (["number"], None)
    assert told["nested"] == {"description": "One line of an order.", "type": "object"}


def test_answers_artifacts_and_state_come_across(told: Any) -> None:
    """The artifact is in the metadata of the result; the model's id of the call goes to the server."""
    found, recalled, (drawn, _), said = told["called"]
    assert (found, recalled, said) == (["tea for Ada", {"rows": ["tea"]}], ["Ada", None], "Done.")
    assert drawn.splitlines()[:2] == ["Drawn.", "[image: image/png]"]
    assert (told["artifact"], told["own ids"]) == (False, True)


def test_failures_raise_and_are_mended(told: Any) -> None:
    """The server says to the model what is wrong; large integers and nulls arrive."""
    article = "lines[0].parts[0].article: Input should be a string, at least 1 character, matching ^[a-z]+$"
    wrong = [f"{SAID}double: number: Input should be an integer", f"{SAID}order: {article}"]
    assert told["mended"] == [wrong[0], "2361183241434822606848", wrong[1], "1 lines"]
    assert told["failed"] == [
        [f"{SAID}fail: No pencil.", f"{SAID}double: Not below zero."],
        [["FunctionExecutionException", "ToolFailed", text] for text in ("No pencil.", "Not below zero.")],
    ]


def test_a_person_decides(told: Any) -> None:
    """By `ask`; without it the model reads that the call waits, and the program gets the approval."""
    assert told["waits"] == [["refund waits until a person has decided about it. It has not run.", "pending"]]
    assert told["approved"] == ["Refunded 100 for order 7."]
    assert told["rejected"] == [f"{SAID}refund: Too much."]


def test_progress_goes_to_the_program(told: Any) -> None:
    """Semantic Kernel has no events of functions."""
    assert told["progress"] == ["begun", "two", "words"]


def test_the_code_of_the_page_runs(told: Any) -> None:
    """With one line for the tools."""
    assert told["recipe"] == "Done."


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

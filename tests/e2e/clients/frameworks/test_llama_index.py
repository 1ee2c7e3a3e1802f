"""Agents of LlamaIndex work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent
REFUND, REFUNDED = ["refund", {"order": 7}, None], ["Refunded 100 for order 7.", None, None]


@pytest.fixture(scope="module")
def told(desk: Server) -> Any:
    """What came of agents."""
    return run_framework("frameworks-crewai", HERE / "use_llama_index.py", desk.url, RECIPE=read_recipe("LlamaIndex"))


def test_tools_are_offered_as_the_server_lists_them(told: Any) -> None:
    """With their choices, references and defaults."""
    assert told["listed"][1]["required"] == ["number"]
    assert told["listed"][1]["properties"]["among"]["default"] is None
    assert told["listed"][1]["properties"]["number"] == {"type": "integer"}


def test_answers_artifacts_and_the_workflows_state_come_across(told: Any) -> None:
    """The artifact is the program's; the model's id of the call goes to the server."""
    assert told["called"] == [[["tea for nobody", {"rows": ["tea"]}, None], ["Ada", None, None]], True, "Done."]
    assert told["artifact"] is False
    assert told["of the run"] == [["tea for Ada", {"rows": ["tea"]}, None], ["2", None, None]]
    assert told["outside"] == ["noted: tea", None, None]


def test_failures_are_failures_and_are_mended(told: Any) -> None:
    """The server says to the model what is wrong; large integers and nulls arrive."""
    assert told["mended"] == [
        ["number: Input should be an integer", None, "ToolFailed"],
        ["2361183241434822606848", None, None],
        ["1 lines", None, None],
    ]
    assert told["failed"] == [["No pencil.", None, "ToolFailed"], ["Not below zero.", None, "ToolFailed"]]


@pytest.mark.parametrize(
    ("case", "asked", "answer"),
    [
        ("approved", [REFUND], REFUNDED),
        ("rejected", [REFUND], ["Too much.", None, "ToolFailed"]),
        (
            "edited",
            [REFUND, [*REFUND[:2], "order: Input should be an integer"]],
            ["Refunded 100 for order 8.", None, None],
        ),
        ("decided elsewhere", [REFUND, REFUND], REFUNDED),
        ("asked twice", [["empty", {"folder": "old"}, None]] * 2, ["old stays: 2 asked.", None, None]),
        ("by ask", [], REFUNDED),
        ("waited shortly", [], ["refund waits until a person has decided about it. It has not run.", None, None]),
        ("as text", [], ["refund waits until a person has decided about it. It has not run.", None, None]),
    ],
)
def test_a_workflow_waits_for_a_person(told: Any, case: str, asked: Any, answer: Any) -> None:
    """An event asks, and one answers; what the server refuses is asked again."""
    assert told[case] == [asked, [answer]]


def test_each_answer_counts_for_its_own_call(told: Any) -> None:
    """Of two that wait at once, and of a workflow that was kept as text meanwhile."""
    assert told["two at once"] == ["Paid 5.", "Refunded 100 for order 7."]
    # The other call of the turn may have ended before it was kept, or runs again.
    results, said = told["interrupted"]
    assert (REFUNDED in results, said) == (True, "Done.")


def test_progress_and_media_come_across(told: Any) -> None:
    """Progress as events of the workflow, media as LlamaIndex's blocks."""
    assert told["progress"] == [["write", 1.0, 2.0, "begun"], "two", "words"]
    assert told["drawn"] == [["text", None], *[["image", "image/png"]] * 2, *[["document", None]] * 3]


def test_the_code_of_the_page_runs(told: Any) -> None:
    """With one line for the tools."""
    assert told["recipe"] == "Done."


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

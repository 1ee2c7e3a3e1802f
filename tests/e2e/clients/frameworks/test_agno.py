"""Agents of agno work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.models import running_models
from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent
WAITS = "{} waits until a person has decided about it. It has not run."


@pytest.fixture(scope="module")
def told(desk: Server, shipped: Server) -> Any:
    """What came of agents."""
    code = read_recipe("agno").replace("http://127.0.0.1:8000", shipped.url)
    with running_models() as url:
        settings = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1", "RECIPE": code}
        return run_framework("frameworks-newer", HERE / "use_agno.py", desk.url, **settings)


def test_the_model_is_offered_what_the_server_lists(told: Any) -> None:
    """Whole schemas, in which a schema that contains itself is defined."""
    number = {"description": "Not below zero.", "type": "integer"}
    assert told["listed"]["double"] == {"type": "object", "properties": {"number": number}, "required": ["number"]}
    assert list(told["listed"]["jot"]["properties"]) == ["text"]
    assert told["listed"]["order"]["properties"]["lines"]["items"] == {"$ref": "#/$defs/Line"}
    assert told["listed"]["order"]["$defs"]["Line"]["required"] == ["article"]


def test_calls_failures_and_mended_calls_come_across(told: Any) -> None:
    """A failure is one of agno's, in the server's words; texts that agno makes other values of are restored."""
    assert told["called"] == [
        ["double", "number: Input should be an integer", True],
        ["fail", "No pencil.", True],
        ["double", "8", False],
        ["find", "tea for nobody", False],
        ["draw", "Drawn.", False],
        ["repeat_number", "1152921504606846977 None", False],
        ["recall", "of the session", False],
        ["jot", "noted: True", False],
        ["repeat_any", "None", False],
        ["configure", "r {} none 1 s null", False],
    ]


def test_images_are_agnos_and_artifacts_reach_its_hooks(told: Any) -> None:
    """No model reads an artifact."""
    assert told["images"] == 2
    assert told["artifact"] == [["find", {"rows": ["tea"]}]]
    assert told["read"] == [False, False]


@pytest.mark.parametrize(
    ("decision", "read", "is_error"),
    [("approved", "Refunded 100 for order 7.", False), ("rejected", "Ask for a receipt first.", True)],
)
def test_an_approval_pauses_the_run(told: Any, decision: str, read: str, is_error: bool) -> None:
    """It goes on with what a person has said."""
    assert told[decision] == ["PAUSED", {"order": 7}, [read], [is_error], "Done."]


def test_the_program_may_choose_texts_for_approvals(told: Any) -> None:
    """As for tools that ask themselves, for which agno cannot pause."""
    assert told["text"] == [[name, WAITS.format(name), True] for name in ("refund", "pay_out")]


def test_progress_is_among_the_events_of_a_run(told: Any) -> None:
    """With tools for an event loop, beside the answers, and read by no model."""
    heard, said = told["streamed"]["heard"], told["streamed"]["said"]
    assert heard == [["write", "begun"], ["write", "a"], ["write", "word"]]
    assert told["streamed"]["kept"] == 3
    assert [it[:3] for it in said] == [
        ["draw", "Drawn.", False],
        ["fail", "No pencil.", True],
        ["write", "aword", False],
    ]


def test_tools_work_on_an_event_loop(told: Any) -> None:
    """Those of either way to load them."""
    assert told["cancelled"] == "CancelledError"
    assert told["threads"] == [["fail", "No pencil.", True], ["find", "tea for nobody", False]]


def test_the_code_of_the_page_runs(told: Any) -> None:
    """On the real package, against a model of ours."""
    assert told["recipe"] == "The result is 11.0.\n"


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

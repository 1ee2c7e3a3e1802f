"""Agents of Microsoft's Agent Framework work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent
WAITS = "{} waits until a person has decided about it. It has not run."


@pytest.fixture(scope="module")
def told(desk: Server, shipped: Server) -> Any:
    """What came of agents."""
    code = read_recipe("Microsoft Agent Framework").replace("http://127.0.0.1:8000", shipped.url)
    return run_framework("frameworks-newer", HERE / "use_agent_framework.py", desk.url, RECIPE=code)


def test_the_model_is_offered_what_the_server_lists(told: Any) -> None:
    """Whole schemas, in which a schema that contains itself is defined."""
    number = {"description": "Not below zero.", "type": "integer"}
    assert told["listed"]["double"] == {"type": "object", "properties": {"number": number}, "required": ["number"]}
    assert list(told["listed"]["jot"]["properties"]) == ["text"]
    assert told["listed"]["order"]["properties"]["lines"]["items"] == {"$ref": "#/$defs/Line"}
    assert told["listed"]["order"]["$defs"]["Line"]["required"] == ["article"]


def test_calls_failures_and_mended_calls_come_across(told: Any) -> None:
    """A failure has an exception, as the framework's own, and the model reads the server's words."""
    refused, failed = "number: Input should be an integer", "No pencil."
    assert told["called"] == [
        ["double", refused, refused],
        ["fail", failed, failed],
        ["double", "8", None],
        ["find", "tea for nobody", None],
        ["draw", "Drawn.", None],
        ["repeat_number", "1152921504606846977 None", None],
        ["recall", "ada", None],
        ["jot", "noted: True", None],
        ["repeat_any", "None", None],
        ["configure", "r {} none 1 s null", None],
        ["order", "1 lines", None],
    ]


def test_images_and_artifacts_come_across(told: Any) -> None:
    """Images and files are parts of the result; no model reads an artifact."""
    assert told["parts"] == [
        ["data", "image/png"],
        ["uri", "image/png"],
        ["data", "application/pdf"],
        ["data", "text/plain"],
        ["uri", "application/pdf"],
    ]
    assert next(filter(None, told["artifact"])) == {"rows": ["tea"]}
    assert told["read"] == [False, False]


def test_an_approval_ends_the_run_with_a_request(told: Any) -> None:
    """It goes on in the same session, which may have been kept as text, with what a person has said."""
    approved = ["refund", {"order": 7}, ["Refunded 100 for order 7."], "Done."]
    assert told["approved"] == [approved, approved]
    assert told["rejected"] == ["refund", {"order": 7}, ["Error: Tool call invocation was rejected by user."], "Done."]


def test_the_program_may_choose_texts_for_approvals(told: Any) -> None:
    """As for tools that ask themselves, before which the framework cannot stop."""
    waits = [WAITS.format(name) for name in ("refund", "pay_out")]
    assert told["text"] == [["refund", waits[0], waits[0]], ["pay_out", waits[1], waits[1]]]


def test_streamed_runs_and_progress(told: Any) -> None:
    """The program gets the progress, also where middleware surrounds the calls."""
    answered = [["write", "aword", None], ["fail", "No pencil.", "No pencil."]]
    assert told["streamed"] == [answered, ["begun", "a", "word"]]


def test_tools_may_be_called_without_an_agent(told: Any) -> None:
    """A failure has the answer."""
    assert told["directly"] == ["8", "Not below zero.", "tool_error"]


def test_what_the_program_has_to_mend_ends_the_run(told: Any) -> None:
    """No model could mend it."""
    assert told["refused"] == "RequestUnfit"


def test_the_code_of_the_page_runs(told: Any) -> None:
    """On the real package, with a scripted model."""
    assert told["recipe"] == "Done.\n"


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

"""Agents of AutoGen work with the tools of a server as with their own."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.frameworks import read_recipe, require_waited, run_framework
from tests.kit.servers import Server

HERE = Path(__file__).parent
WAITS = "refund waits until a person has decided about it. It has not run."
DRAWN = """Drawn.
[image: image/png]
[image: https://x.test/a.png]
[file: application/pdf]
[file: text/plain]
[file: https://x.test/a.pdf]"""


@pytest.fixture(scope="module")
def told(desk: Server, shipped: Server) -> Any:
    """What came of agents."""
    code = read_recipe("AutoGen").replace("http://127.0.0.1:8000", shipped.url)
    return run_framework("frameworks-older", HERE / "use_autogen.py", desk.url, RECIPE=code)


def test_the_model_is_offered_what_the_server_lists(told: Any) -> None:
    """Whole schemas, in which a schema that contains itself is defined."""
    number = {"description": "Not below zero.", "type": "integer"}
    assert told["listed"]["double"] == {"type": "object", "properties": {"number": number}, "required": ["number"]}
    assert list(told["listed"]["jot"]["properties"]) == ["text"]
    assert told["listed"]["order"]["properties"]["lines"]["items"] == {"$ref": "#/$defs/Line"}
    assert told["listed"]["order"]["$defs"]["Line"]["required"] == ["article"]


def test_calls_failures_and_mended_calls_come_across(told: Any) -> None:
    """A failure is one of AutoGen's, in the server's words; images are named, since its agents read texts."""
    assert told["called"] == [
        ["double", "number: Input should be an integer", True],
        ["fail", "No pencil.", True],
        ["double", "8", False],
        ["find", "tea for nobody", False],
        ["draw", DRAWN, False],
        ["repeat_number", "1152921504606846977 None", False],
        ["write", "aword", False],
        ["refund", WAITS, True],
        ["configure", "config: Field required (object)\nstore: Field required (integer)", True],
    ]


def test_artifacts_and_progress_are_events(told: Any) -> None:
    """The program gets them among the agent's messages, and no model reads them."""
    assert told["artifact"] == [{"rows": ["tea"]}]
    assert told["read"] == [False, False]
    assert told["progress"] == ["begun", "a", "word"]


def test_the_program_decides_about_calls(told: Any) -> None:
    """AutoGen has no way of its own for that."""
    assert told["decided"] == [
        ["refund", "Refunded 100 for order 7.", False],
        ["refund", "Tool execution was not approved.", True],
    ]


def test_agents_of_the_core_call_tools_too(told: Any) -> None:
    """What tools get may depend on the agent's key; a cancelled call ends."""
    assert told["core"] == ["ada", ["ToolExecutionException", "Error: Not below zero."]]
    assert told["cancelled"] is True


def test_teams_work_too(told: Any) -> None:
    """A function hears of artifacts; a team passes on events if it knows them."""
    found = [{"rows": ["tea"]}]
    assert told["teams"] == [[found, []], [found, ["CallAnswered", "CallProgress"]]]


def test_the_code_of_the_page_runs(told: Any) -> None:
    """On the real package, with a scripted model."""
    assert told["recipe"] == "Done.\n"


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

"""Agents of Haystack work with the tools of a server as with their own."""

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
    code = read_recipe("Haystack").replace("http://127.0.0.1:8000", shipped.url)
    with running_models() as url:
        settings = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1", "RECIPE": code}
        return run_framework("frameworks-newer", HERE / "use_haystack.py", desk.url, **settings)


def test_the_model_is_offered_what_the_server_lists(told: Any) -> None:
    """Whole schemas, in which a schema that contains itself is defined."""
    number = {"description": "Not below zero.", "type": "integer"}
    assert told["listed"]["double"] == {"type": "object", "properties": {"number": number}, "required": ["number"]}
    assert list(told["listed"]["jot"]["properties"]) == ["text"]
    assert told["listed"]["order"]["properties"]["lines"]["items"] == {"$ref": "#/$defs/Line"}
    assert told["listed"]["order"]["$defs"]["Line"]["required"] == ["article"]


def test_calls_failures_and_mended_calls_come_across(told: Any) -> None:
    """A failure is one of Haystack's, in the server's words alone; images and files are its own."""
    assert told["called"] == [
        ["double", "number: Input should be an integer", True],
        ["fail", "No pencil.", True],
        ["double", "8", False],
        ["find", "tea for nobody", False],
        ["draw", ["TextContent", "ImageContent", "TextContent", "FileContent", "FileContent", "TextContent"], False],
        ["repeat_number", "1152921504606846977 None", False],
        ["recall", "of the state", False],
        ["jot", "noted: True", False],
        ["repeat_any", "None", False],
        ["configure", "r {} none 1 s null", False],
        ["refund", WAITS.format("refund"), True],
        ["pay_out", WAITS.format("pay_out"), True],
    ]


def test_artifacts_go_to_the_program(told: Any) -> None:
    """With the result, and into the agent's state; no model reads them."""
    half = {"number": 1152921504606846977, "half": 0.5, "text": "1152921504606846977"}
    assert told["artifact"] == [{"rows": ["tea"]}]
    assert told["found"] == [{"rows": ["tea"]}, half]
    assert told["read"] == [False, False]


def test_each_call_goes_with_its_own_id(told: Any) -> None:
    """Equal calls of one turn too, whether or not their tool gets the agent's state."""
    assert told["equal"] == [[["find", "tea for Ada", False]] * 3, True, True]


def test_haystacks_confirmation_decides_about_approvals(told: Any) -> None:
    """It confirms, rejects with words for the model, or changes the arguments; tools that ask themselves too."""
    assert told["decided"] == [
        ["refund", "Refunded 100 for order 7.", False],
        ["refund", "Ask for a receipt first.", True],
        ["refund", "Refunded 1 for order 9.", False],
        ["pay_out", "Paid 5.", False],
    ]


def test_progress_reaches_the_streaming_callback(told: Any) -> None:
    """On an event loop too."""
    assert told["progress"] == ["begun", "a", "word"]
    assert told["loop"] == [[["write", "aword", False], ["fail", "No pencil.", True]], ["begun", "a", "word"]]


def test_tools_may_be_called_without_an_agent(told: Any) -> None:
    """What the program has to mend is raised there and in a run."""
    assert (told["directly"], told["refused"]) == ("8", "RequestUnfit")


def test_the_code_of_the_page_runs(told: Any) -> None:
    """On the real package, against a model of ours."""
    assert told["recipe"] == "The result is 11.0.\n"


def test_a_call_may_wait_for_a_person_elsewhere(told: Any) -> None:
    """With the mode `wait`, its answer or the reason of the rejection is the answer of the tool."""
    require_waited(told["waited"])

"""Models of Google's Gen AI SDK work with the tools of a server as with functions."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bench.environments import ROOT
from tests.e2e.clients.conftest import run_beside
from tests.e2e.models import running_models
from tests.kit.servers import Server

HERE = Path(__file__).parent
APP = str(ROOT / "app")
HEADINGS = ("And Gemini's", "## Gemini")
PNG = {"mime_type": "image/png", "data": "-vv8_f7_"}  # It writes base64 in the letters of URLs, which Google reads too.


@pytest.fixture(scope="module")
def told(for_google: Path, desk: Server) -> Any:
    """What came of it all."""
    return json.loads(run_beside(for_google, [str(HERE / "use_gemini.py")], SIDECALL_URL=desk.url, PYTHONPATH=APP))


def test_state_artifacts_images_and_repaired_failures_come_across(told: Any) -> None:
    """The model reads the answers; the program gets their artifacts, and the conversation."""
    answered, kept, said, history, config, asked = told["work"]
    found, recalled, wrong, drawn, right = answered

    assert found.pop("id").startswith("find_1.")
    assert found == {"name": "find", "response": {"output": "tea for Ada"}}
    assert (recalled["response"], right["response"]) == ({"output": "of the state"}, {"output": "8"})
    assert "number" in wrong["response"]["error"]
    assert (drawn["response"], drawn["parts"][0]) == ({"output": "Drawn."}, {"inline_data": PNG})
    assert kept[0] == ["find", "success", {"rows": ["tea"]}]
    assert [status for _, status, _ in kept] == ["success", "success", "error", "success", "success"]
    assert (said, history, config, asked) == ("Done.", ["user", *["model", "user"] * 2], {"temperature": 0}, 3)


def test_streams_run_tools_too(told: Any) -> None:
    """Whose calls come in chunks."""
    assert told["stream"] == [["Done."], [{"output": "tea for nobody"}, {"output": "8"}], ["double", "find"]]


def test_a_person_decides_while_nothing_runs_twice(told: Any) -> None:
    """The conversation goes on with the turn that was stopped."""
    assert told["approved"] == ["Done.", [{"output": "8"}, {"output": "Refunded 5 for order 7."}]]
    assert told["rejected"] == ["Done.", [{"output": "8"}, {"error": "Ask for a receipt first."}]]


def test_of_an_answer_that_was_cut_off_the_last_call_is_not_run(told: Any) -> None:
    """The model is told to send it again."""
    whole, half = told["cut"]

    assert whole == {"name": "double", "response": {"output": "8"}}
    assert half["response"]["error"].startswith("The call was cut off")


def test_the_program_may_decide_at_once(told: Any) -> None:
    """By a function of the approval."""
    approved, rejected = told["asked"]

    assert approved == [{"output": "Refunded 100 for order 7."}]
    assert list(rejected[0]) == ["error"]


def test_a_model_that_asks_without_end_is_stopped(told: Any) -> None:
    """As with the SDK's own functions."""
    assert told["bounds"] == [10, 3, 1, 1]


def test_an_answer_to_a_prompt_that_was_blocked_is_given_as_it_is(told: Any) -> None:
    """It has no candidates, and so no calls."""
    assert told["blocked"] == [["SAFETY", "SAFETY"], [], [], [], []]


def test_the_client_with_an_event_loop_does_the_same(told: Any) -> None:
    """Whole, and in chunks, awaited as those of the SDK or not."""
    assert told["async"] == ["Done.", ["Done."], ["Done."], [], [{"output": "tea for Ada"}]]


def test_the_code_of_the_document_runs(for_google: Path, shipped: Server) -> None:
    """On the real SDK, against a model of ours: the loop of one's own, and the one that is there."""
    page = (ROOT / "docs/clients.md").read_text()
    codes = [re.search(r"```python no-test\n(.*?)```", page.partition(it)[2], re.DOTALL) for it in HEADINGS]
    found = "\n".join(code[1] for code in codes if code is not None)
    program = f"from sidecall.client import Sidecall\nserver = Sidecall('{shipped.url}')\n{found}"
    with running_models() as url:
        settings = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}
        assert run_beside(for_google, ["-c", program], PYTHONPATH=APP, **settings) == "The result is 11.0.\n" * 2

"""Agents of the OpenAI Agents SDK work with the tools of a server as with their own."""

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


@pytest.fixture(scope="module")
def printed(for_agents: Path, desk: Server) -> list[Any]:
    """What came of agents with either client."""
    lines = run_beside(for_agents, [str(HERE / "use_agents.py")], SIDECALL_URL=desk.url, PYTHONPATH=APP)
    return [json.loads(line) for line in lines.splitlines()]


@pytest.fixture(scope="module")
def told(printed: list[Any]) -> Any:
    """What came of agents on an event loop."""
    return printed[0]


def test_the_model_is_offered_what_the_server_lists(told: Any) -> None:
    """Hidden parameters stay hidden; who may need a person's approval is asked about each call."""
    offered = {name: (parameters, asks) for name, parameters, asks in told["offered"]}

    assert offered["find"] == (["query"], False)
    assert offered["refund"] == (["order", "amount"], True)
    assert offered["jot"] == (["text"], False)
    assert told["strict"] == [["double", True]]


def test_a_tool_that_takes_a_text_is_a_function_of_one(told: Any) -> None:
    """As in the other adapters."""
    ((_, output, data),) = told["text"]
    assert (output, data) == ("noted: tea", {"status": "success"})


def test_failures_that_go_through_are_the_sdks_own(told: Any) -> None:
    """As of tools that the agent has itself, with what the server says of them."""
    assert told["failed"] == [
        ["ToolTimeoutError", "linger", 0.05, "ServerFailed"],
        ["ToolInputGuardrailTripwireTriggered", "no_order", {"asked": "order"}, "raise_exception", "NotAllowed"],
        ["ToolOutputGuardrailTripwireTriggered", "no_secret", "a secret", "raise_exception", "NotAllowed"],
    ]


def test_state_artifacts_images_and_repaired_failures_come_across(told: Any) -> None:
    """What the model reads, and what the program gets as `custom_data`."""
    answered, said = told["work"]
    texts = {call_id: (output, data) for call_id, output, data in answered}

    assert texts["find_1"] == ("tea for Ada", {"artifact": {"rows": ["tea"]}, "status": "success"})
    assert texts["recall_1"] == ("of the state", {"status": "success"})
    assert texts["double_1"][1] == {"status": "error"}
    assert "number" in texts["double_1"][0]
    assert texts["double_0"] == ("8", {"status": "success"})
    assert said == "Done."
    assert [(part["type"], part.get("image_url")) for part in texts["draw_1"][0][:3]] == [
        ("input_text", None),
        ("input_image", "data:image/png;base64,+vv8/f7/"),
        ("input_image", "https://x.test/a.png"),
    ]


def test_failures_are_seen_in_the_trace(told: Any) -> None:
    """As those of any tool of the SDK."""
    assert told["spans"] == [["Error running tool", "double", "invalid_arguments"]]


@pytest.mark.parametrize(
    ("decision", "output", "data"),
    [
        ("approved", "Refunded 100 for order 7.", {"status": "success"}),
        ("rejected", "Ask for a receipt first.", None),
    ],
)
def test_an_approval_interrupts_the_run(told: Any, decision: str, output: str, data: Any) -> None:
    """It goes on from its saved state with what a person has said, and nothing is left waiting in the server."""
    assert told[decision] == ["refund", {"order": 7}, [["refund_0", output, data]], "Done."]
    assert told["left"] is False


def test_a_tool_that_asks_itself_asks_the_program(told: Any) -> None:
    """Without a function to ask, the run ends with what has to be decided."""
    assert told["asks itself"] == "The till is nearly empty."
    assert [output for _, output, _ in told["asked"]] == ["Paid 5."]


def test_an_approval_answers_no_question_in_the_middle_of_work(told: Any) -> None:
    """That goes to whom `ask` asks; without one, the run ends, and the call goes on waiting in the server."""
    ended, waiting, answered, asked = told["inside"]
    assert (ended, waiting) == ([["Pay the fee?"]] * 2, ["Pay the fee?"])
    assert (answered, asked) == (["Sent 500: False."], ["Pay the fee?"])


def test_the_client_without_an_event_loop_will_do(printed: list[Any]) -> None:
    """Its calls run in threads."""
    assert printed[1] == [[["double_1", "8", {"status": "success"}]], ["refund"]]


def test_the_code_of_the_document_runs(for_agents: Path, shipped: Server) -> None:
    """On the real SDK, against a model of ours."""
    page = (ROOT / "docs/clients.md").read_text().partition("## OpenAI Agents SDK")[2]
    code = re.search(r"```python no-test\n(.*?)```", page, re.DOTALL)
    assert code is not None
    program = f"from sidecall.client import Sidecall\nserver = Sidecall('{shipped.url}')\n{code[1]}"
    with running_models() as url:
        settings = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        assert run_beside(for_agents, ["-c", program], PYTHONPATH=APP, **settings) == "The result is 11.0.\n"

"""`sidecall agent` talks to an agent elsewhere."""

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from tests.features.remote_agents.agents import Heard, serving_agents


@pytest.fixture(scope="module", name="heard")
def serve_agents() -> Iterator[Heard]:
    """Serve agents for all tests here."""
    with serving_agents() as heard:
        yield heard


def test_the_answer_is_printed_and_its_progress_beside_it(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what its model has used, and a token of the environment."""
    monkeypatch.setenv("AGENT_KEY", "k")
    asked = ["agent", f"{heard.url}/v1/chat/completions", "hello", "--auth", "AGENT_KEY"]

    found = CliRunner().invoke(cli, asked)

    assert json.loads(found.stdout) == {
        "text": "It is sunny.",
        "context_id": None,
        "task_id": None,
        "usage": {"input_tokens": 7, "output_tokens": 5},
        "parts": [],
    }
    assert found.stderr == "It is sunny.\n"
    assert heard.headers[-1]["authorization"] == "Bearer k"


def test_what_it_asks_a_person_it_asks_here(heard: Heard) -> None:
    """Again and again."""
    found = CliRunner().invoke(cli, ["agent", f"{heard.url}/rpc", "ask"], input="y\nagain\nn\nno such street\n")

    answer = json.loads(found.stdout[found.stdout.index("{") :])  # The runner writes the input there too.
    assert answer["text"] == "You said: The person has rejected this: no such street"
    assert "The agent asks: Which city?\n" in found.stderr
    assert found.stderr.count("Answer or approve (y), or reject (n)? [y/N]:") == 2
    assert 'Your answer, or Enter for "Approved.":' in found.stderr
    assert "Why not, or Enter to say nothing:" in found.stderr
    assert "Which street?" in found.stderr


@pytest.mark.parametrize(
    ("beyond", "text"),
    [
        (["/old", "hello"], "The agent speaks A2A 0.3, and 1.0 is needed. Ask its operator to offer 1.0.\n"),
        (["/rpc", "wait", "--timeout", "0.3"], "The agent did not answer in time.\n"),
    ],
)
def test_what_cannot_be_answered_is_said(heard: Heard, beyond: list[str], text: str) -> None:
    """With the exit code 1."""
    path, *others = beyond
    found = CliRunner().invoke(cli, ["agent", heard.url + path, *others])

    assert found.exit_code == 1
    assert found.stderr.endswith(text)

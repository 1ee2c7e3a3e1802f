"""The tour with curl, against a real server."""

import json
import os
import re
import subprocess
from typing import Any

import pytest

from bench.environments import ROOT
from tests.kit.servers import Server


def run_tour(sidecall_url: str) -> subprocess.CompletedProcess[str]:
    """Run the script as its reader would."""
    environment = {**os.environ, "SIDECALL_URL": sidecall_url}
    command = [ROOT / "examples/curl.sh"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(scope="module")
def sections(shipped: Server) -> list[str]:
    """What the script prints below each of its titles."""
    done = run_tour(shipped.url)
    assert (done.returncode, done.stderr) == (0, "")
    return re.split(r"\n# .*\n", done.stdout)[1:]


def test_tour_starts_with_a_definition(sections: list[str]) -> None:
    """In the form of OpenAI, as a bare array."""
    [definition] = json.loads(sections[0])

    assert (definition["type"], definition["function"]["name"]) == ("function", "calculator")


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        # langchain
        (1, {"content": "11.0", "tool_call_id": "call_1", "status": "success", "type": "tool"}),
        # openai
        (2, {"role": "tool", "tool_call_id": "call_2", "content": "42"}),
        # openai-responses
        (3, {"type": "function_call_output", "call_id": "call_3", "output": "1024"}),
        # anthropic
        (
            4,
            {"type": "tool_result", "tool_use_id": "toolu_4", "content": "1.4142135623730951", "is_error": False},
        ),
        # a failure for the model
        (
            5,
            {
                "content": "expresion: There is no such argument; did you mean expression?",
                "tool_call_id": "call_5",
                "status": "error",
            },
        ),
        # a failure for the program
        (6, {"type": "urn:sidecall:problem:not-a-tool-call", "status": 422}),
    ],
)
def test_tour_shows_a_call(section: int, expected: dict[str, Any], sections: list[str]) -> None:
    """Each is answered in its own dialect."""
    answer = json.loads(sections[section])

    assert {key: answer[key] for key in expected} == expected


def test_tour_shows_a_batch(sections: list[str]) -> None:
    """One call of it fails, the other does not care."""
    failed, told = json.loads(sections[7])

    assert failed == {"role": "tool", "tool_call_id": "call_6", "content": "Division by zero."}
    assert told["tool_call_id"] == "call_7"
    assert told["content"].endswith("[Japan]")


def test_tour_ends_with_an_unchanged_listing(sections: list[str]) -> None:
    """The ETag is sent back, and nothing else comes."""
    assert re.fullmatch(r'If-None-Match: "[0-9a-f]{32}" is answered with 304\n', sections[8])


def test_tour_stops_where_nobody_listens() -> None:
    """With curl's own words and exit code."""
    done = run_tour("http://127.0.0.1:9")

    assert done.returncode == 7
    assert "Failed to connect to 127.0.0.1 port 9" in done.stderr

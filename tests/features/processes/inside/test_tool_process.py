"""What comes of a call in a tool's process, here without the process."""

import asyncio
import socket
from typing import Any

import pytest

from sidecall.features.processes.finder import Finder
from sidecall.features.processes.inside.tool_process import Channel, ToolProcess
from sidecall.loading.collect import tools_of
from tests.features.processes.inside.messages import greeting, request_for


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (request_for("later", number=3), {"kind": "value", "content": 3}),
        (request_for("parts"), {"kind": "value", "content": "one two"}),
        (request_for("aparts"), {"kind": "value", "content": [1, 2]}),
        (request_for("with_a_loop"), {"kind": "value", "content": 3}),
        (
            request_for("pairing", name="pair"),
            {"kind": "value", "content": "text", "artifact": {"rows": [{"type": "text", "text": "hello"}]}},
        ),
        (
            request_for("pairing", name="pair_of_list"),
            {
                "kind": "typed",
                "classes": [
                    ["sidecall.kernel.core.errors", "ToolOutputError"],
                    ["sidecall.kernel.core.errors", "ToolFailure"],
                    ["sidecall.kernel.core.errors", "SidecallError"],
                    ["builtins", "Exception"],
                    ["builtins", "BaseException"],
                    ["builtins", "object"],
                ],
                "state": {},
                "message": "Error: pairing has response_format='content_and_artifact' and must return a pair"
                " (content, artifact), but returned list.",
            },
        ),
        (
            request_for("returning"),
            {
                "kind": "invalid_arguments",
                "errors": [
                    {"loc": ["name"], "type": "missing", "msg": "Field required (string)", "expected": "string"}
                ],
            },
        ),
    ],
    ids=["async", "parts", "aparts", "loop", "pair", "no-pair", "arguments"],
)
def test_a_call_is_answered(line: tuple[socket.socket, socket.socket], call: Any, answer: Any) -> None:
    """With what crosses, or with why it failed."""
    with asyncio.Runner() as runner:
        actual = ToolProcess(Channel(line[1]), runner, Finder(tools_of)).call(call)

    assert actual == answer


def test_a_crash_is_answered_with_its_traceback(line: tuple[socket.socket, socket.socket]) -> None:
    """For the server's log."""
    with asyncio.Runner() as runner:
        answer = ToolProcess(Channel(line[1]), runner, Finder(tools_of)).call(request_for("raising", name="own"))

    assert answer["text"] == "bad luck"
    assert answer["classes"][-3:] == [["builtins", "Exception"], ["builtins", "BaseException"], ["builtins", "object"]]
    assert "process_tools.py" in answer["traceback"]


def test_a_process_says_which_tools_it_has_lost(line: tuple[socket.socket, socket.socket]) -> None:
    """And why."""
    with asyncio.Runner() as runner:
        process = ToolProcess(Channel(line[1]), runner, Finder(tools_of))
        process.greet(greeting({"name": "gone", "module": "nowhere", "file": None}))

    assert process.lost == {
        "gone": "neither the module nowhere nor any of the server's places offers a tool of this name"
    }

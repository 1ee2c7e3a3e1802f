"""Unit tests that are written for the OpenAI Agents SDK find here what they find there, with their imports moved."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sidecall import function_tool
from tests.kit.clients import MakeClient

HERE = Path(__file__).parent / "moved_sdk_tests"
RECORDED: dict[str, Any] = json.loads((HERE / "expected.json").read_text())
CALLERS = RECORDED.pop("callers")
_IMPORTS = re.compile(r"^from agents(?:\.\w+)* import", re.M)
# What is found otherwise on purpose: without words of the author a failure is told in ours.
DIFFERENT: dict[str, Any] = {
    "wrong": ["found", "a"],
    "no_json": ["found", "The arguments are not valid JSON"],
    "failure": ["found", "Error: fails failed unexpectedly (call call_1). The details are in the server's log."],
}


@pytest.fixture(scope="module")
def moved() -> Iterator[dict[str, Any]]:
    """The file with its import lines changed."""
    name = "moved_sdk_cases"
    module = sys.modules[name] = ModuleType(name)
    exec(
        compile(_IMPORTS.sub("from sidecall import", (HERE / "cases.py").read_text()), "cases.py", "exec"), vars(module)
    )
    yield vars(module)
    del sys.modules[name]


@pytest.mark.parametrize("name", RECORDED)
async def test_a_case_finds_the_same(moved: dict[str, Any], name: str) -> None:
    """Values, texts and errors."""
    found = json.loads(json.dumps(await moved["find"](moved["CASES"][name])))

    assert found == DIFFERENT.get(name, RECORDED[name])


def test_every_case_is_recorded(moved: dict[str, Any]) -> None:
    """And none besides."""
    assert moved["CASES"].keys() == RECORDED.keys()
    assert DIFFERENT.keys() <= RECORDED.keys()


@pytest.mark.parametrize(("allowed", "caller", "ended"), CALLERS)
async def test_a_tool_is_called_from_where_it_is_there(
    make_client: MakeClient, allowed: list[str] | None, caller: Any, ended: str | None
) -> None:
    """What ends the run there is an error here; a tool that names nobody is called by programs too."""

    def rate() -> str:
        return "1.5"

    client = await make_client(function_tool(allowed_callers=allowed)(rate))
    call = {"type": "function_call", "call_id": "call_1", "name": "rate", "arguments": "{}", "caller": caller}
    answer = (await client.post("/tool_calls", json=call)).json()

    assert (answer["output"] == "1.5") is (ended is None or allowed is None)

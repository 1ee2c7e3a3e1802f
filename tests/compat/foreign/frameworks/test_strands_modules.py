"""A module that is a tool of Strands is offered as a place and in a list, also where Strands is not installed."""

from pathlib import Path
from typing import Any

import pytest

from sidecall.compat.foreign.frameworks.strands import list_tools
from sidecall.loading.discovery import discover
from sidecall.loading.modules.loading import load_file
from tests.kit.projects import names, write

MODULE = """
TOOL_SPEC = {
    "name": "weather",
    "description": "Tell the weather.",
    "inputSchema": {"json": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
}


def weather(tool, **kwargs):
    city, owner = tool["input"]["city"], kwargs["agent"].state.get("owner")
    if city == "Atlantis":
        return {"toolUseId": tool["toolUseId"], "status": "error", "content": [{"text": "It is under water."}]}
    said = f"{city}: 20 for {owner}, {kwargs.get('unit')}, {tool['toolUseId']}"
    return {"toolUseId": tool["toolUseId"], "status": "success", "content": [{"text": said}]}


def helper():
    return 1
"""


def find(*places: str) -> tuple[list[str], list[str]]:
    """Return the names of tools, and what is said of others."""
    heard: list[str] = []
    return names(discover(places, tell=lambda it: heard.append(it.text))), heard


@pytest.mark.parametrize(
    ("text", "offered", "said"),
    [
        ("import weather\ntools = [weather]", ["weather"], []),
        ("import weather\nby_name = {'w': weather}", ["weather"], []),
        (
            "import weather",
            [],
            ["weather is not offered: it is a module, which is a tool of Strands; write tools = [weather]"],
        ),
        (
            "import nothing",
            [],
            ["nothing is not offered: its TOOL_SPEC has no function; write `def nothing(tool, **kwargs)` in it"],
        ),
        ("import os, json", [], []),
        (
            "import weather, json\ntools = [weather, json]",
            [],
            [
                "weather is not offered: it is a module, which is a tool of Strands; write tools = [weather]",
            ],
        ),
    ],
    ids=["a list", "a dict", "imported", "without a function", "other modules", "beside another module"],
)
def test_a_module_is_offered_in_a_list(here: Path, text: str, offered: list[str], said: list[str]) -> None:
    """One that was only imported is named, with what to write."""
    write(here / "weather.py", MODULE)
    write(here / "nothing.py", MODULE.replace("def weather", "def other"))
    write(here / "mine.py", text)

    assert find("mine.py") == (offered, said)


@pytest.mark.parametrize("place", ["weather.py", "weather", "shelf"])
def test_a_module_is_offered_as_a_place(here: Path, place: str) -> None:
    """A file, a module, or a folder with it; its other functions are not offered."""
    write(here / "weather.py", MODULE)
    write(here / "shelf/weather.py", MODULE)

    assert find(place) == (["weather"], [])


@pytest.mark.parametrize("is_async", [False, True])
async def test_its_function_runs_calls(here: Path, is_async: bool) -> None:
    """With the call as Strands writes it, the caller's state, and its context."""
    write(here / "weather.py", MODULE.replace("def weather", "async def weather") if is_async else MODULE)
    (tool,) = list_tools(load_file(here / "weather.py"))

    told = await tool.ainvoke(call(city="Oslo"), state={"owner": "Ada"}, context={"unit": "C"})
    failed, refused = await tool.ainvoke(call(city="Atlantis")), await tool.ainvoke(call(city=1))

    assert (told.content, told.status) == ("Oslo: 20 for Ada, C, call_1", "success")
    assert (failed.content, failed.status) == ("It is under water.", "error")
    assert refused.content.startswith("city: Input should be a")


def call(**args: Any) -> dict[str, Any]:
    """Write a call of it."""
    return {"type": "tool_call", "name": "weather", "args": args, "id": "call_1"}

"""LangChain's Tool takes one value under any name."""

from typing import Any

import pytest

from sidecall import Tool
from sidecall.kernel.core.errors import ToolException

shout = Tool("shout", lambda text: f"{text}!", "Shout.")


def test_one_string_is_advertised() -> None:
    """Under the name that LangChain gives it."""
    assert shout.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {"__arg1": {"type": "string"}},
        "required": ["__arg1"],
    }


@pytest.mark.parametrize("args", [{"__arg1": "hey"}, {"text": "hey"}, {"whatever": "hey"}])
async def test_any_name_is_taken(args: dict[str, Any]) -> None:
    """Models often use another."""
    assert await shout.ainvoke(args) == "hey!"


@pytest.mark.parametrize(("args", "shown"), [({}, "[]"), ({"a": 1, "b": 2}, "[1, 2]")])
async def test_anything_but_one_argument_is_the_models_mistake(args: dict[str, Any], shown: str) -> None:
    """In LangChain's words."""
    with pytest.raises(ToolException) as caught:
        await shout.ainvoke(args)

    assert caught.value.message == (
        "Too many arguments to single-input tool shout.\n"
        f"                Consider using StructuredTool instead. Args: {shown}"
    )

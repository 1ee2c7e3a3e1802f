"""A tool of one text works as LangChain's, and its function may ask for more."""

from typing import Any

import pytest
from pydantic import BaseModel, Field

from sidecall import Callbacks, RunnableConfig, Tool
from tests.kit.calls import run


def shout(text: str, callbacks: Callbacks = None) -> str:
    """Shout."""
    return f"{text.upper()} {type(callbacks).__name__}"


async def whisper(text: str, config: RunnableConfig) -> str:
    """Whisper."""
    return f"{text.lower()} {config['configurable']}"


class Short(BaseModel):
    """One short text."""

    text: str = Field(max_length=3)


@pytest.mark.parametrize(
    ("made", "args", "content"),
    [
        (Tool("shout", shout, "Shout."), {"__arg1": "hey"}, "HEY CallbackManager"),
        (Tool.from_function(whisper, "whisper", "Whisper.", True), {"any": "HEY"}, "hey {'user': 'ada'}"),
        (Tool.from_function(None, "whisper", "Whisper.", False, None, whisper), {"any": "A"}, "a {'user': 'ada'}"),
        (Tool("upper", str.upper, "Write large."), {"any": "hey"}, "HEY"),
        (Tool("short", shout, "Shout.", args_schema=Short), {"text": "hey"}, "HEY CallbackManager"),
        (
            Tool("short", shout, "Shout.", args_schema=Short),
            {"text": "hello"},
            "text: Input should be a string, at most 3 characters",
        ),
    ],
)
async def test_one_text_is_handed_over(made: Tool, args: dict[str, Any], content: str) -> None:
    """By position, with what is asked for besides."""
    message = await run(made, args, context={"user": "ada"})

    assert message.content.startswith(content)  # type: ignore[union-attr]
    assert made.return_direct is (made.description == "Whisper." and args == {"any": "HEY"})


async def test_more_than_one_is_refused_with_langchains_words() -> None:
    """No matter what says what there may be."""

    class Two(BaseModel):
        a: str
        b: str

    message = await run(Tool("shout", shout, "Shout.", args_schema=Two), {"a": "x", "b": "y"})

    assert message.content == (
        "Too many arguments to single-input tool shout.\n"
        "                Consider using StructuredTool instead. Args: ['x', 'y']"
    )

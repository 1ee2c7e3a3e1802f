"""A preview has to fit its tool before anybody calls it."""

from typing import Any

import pytest

from sidecall import FunctionTool, StructuredTool, Tool, tool
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption


def refund(order: int, amount: float = 1.0) -> str:
    """Pay money back."""
    return "paid"


def note(**lines: str) -> str:
    """Write down."""
    return "written"


def positional(order: int, /) -> int:
    """Take it by its place only."""
    return order


@pytest.mark.parametrize(
    ("preview", "reason"),
    [
        (
            lambda args: args,
            "the tool has no argument `args`. A preview takes those of the tool's arguments that it "
            "needs, by their names: order, amount.",
        ),
        (positional, "`order` cannot be given by its name, as arguments are."),
        (lambda *args: args, "`args` cannot be given by its name, as arguments are."),
        ("text", "Input should be callable."),
    ],
)
def test_a_preview_that_does_not_fit_is_refused(preview: Any, reason: str) -> None:
    """With the tool's file, name, and what it may take."""
    with pytest.raises(InvalidToolOption) as raised:
        _ = tool(preview=preview)(refund).compiled

    assert "test_preview.py:" in raised.value.message
    assert raised.value.message.endswith(reason)


SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}


@pytest.mark.parametrize(
    "offered",
    [
        tool(preview=lambda order: order)(refund),
        tool(preview=lambda **all_of_them: all_of_them)(refund),
        StructuredTool.from_function(refund, preview=lambda amount: amount),
        tool(preview=lambda title: title, args_schema=SCHEMA)(note),
        FunctionTool("hand", "By hand.", SCHEMA, lambda *_: "", preview=lambda title: title),
        Tool("single", lambda query: query, "Search.", preview=lambda tool_input: tool_input),
    ],
)
def test_a_preview_that_fits_is_kept(offered: Any) -> None:
    """However the tool is written."""
    assert offered.compiled.preview is not None


def test_a_tool_without_arguments_takes_a_preview_without_any() -> None:
    """The refusal of another says so."""
    with pytest.raises(DefinitionError, match="by their names: there are none"):
        _ = tool(preview=lambda order: order)(_nothing).compiled

    assert tool(preview=lambda: "nothing")(_nothing).compiled.preview is not None


def _nothing() -> str:
    """Do nothing."""
    return ""

"""Authors say what a tool does to the world, and callers see it."""

import pytest
from pydantic import ValidationError

from sidecall import tool
from sidecall.core.annotations import ToolAnnotations
from sidecall.schema.definitions import render


def search() -> None:
    """Search."""


def test_mcp_clients_see_what_is_said() -> None:
    """Under MCP's names; what is not said is left out."""
    made = tool(annotations={"read_only": True, "destructive": False})(search).compiled

    assert render([made], "mcp")[0]["annotations"] == {"readOnlyHint": True, "destructiveHint": False}


def test_nothing_said_is_nothing_shown() -> None:
    """The key is absent then."""
    assert "annotations" not in render([tool(search).compiled], "mcp")[0]


def test_all_three_have_a_name() -> None:
    """As MCP has them."""
    assert ToolAnnotations(read_only=False, destructive=True, idempotent=True).mcp == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": True,
    }


def test_an_unknown_one_is_refused() -> None:
    """A typing error must not pass for a promise."""
    with pytest.raises(ValidationError):
        ToolAnnotations(readonly=True)

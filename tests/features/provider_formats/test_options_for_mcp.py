"""Clients of MCP see what an author says of a tool."""

from sidecall import tool
from sidecall.kernel.schema.forms.definitions import render_definitions


def search() -> None:
    """Search."""


def test_mcp_clients_see_what_is_said() -> None:
    """Under MCP's names; what is not said is left out."""
    made = tool(annotations={"read_only": True, "destructive": False})(search).compiled

    assert render_definitions([made], "mcp")[0]["annotations"] == {"readOnlyHint": True, "destructiveHint": False}


def test_nothing_said_is_nothing_shown() -> None:
    """The key is absent then."""
    assert "annotations" not in render_definitions([tool(search).compiled], "mcp")[0]

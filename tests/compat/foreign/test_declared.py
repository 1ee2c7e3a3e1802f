"""What the OpenAI Agents SDK declares is taken over, and what nobody can offer is named.

The objects have the SDK's shape; it cannot be installed beside our pins.
"""

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

from sidecall.compat.foreign.declared import adopt_declaration, find_lost_options
from sidecall.loading.collect import collect_items, compile_items
from sidecall.loading.skipped_tools import find_omissions


def _declare(name: str, **fields: Any) -> Any:
    kind = type(name, (), {"__module__": "agents.tool", "__annotations__": dict.fromkeys(fields, Any)})
    for key, value in fields.items():
        setattr(kind, key, field(default_factory=lambda value=value: value))
    return dataclass(kind)()


class Filters:
    """A model of the SDK's."""

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Dump it."""
        return {"allowed_domains": ["e.org"]}


WEB = {"user_location": None, "filters": Filters(), "search_context_size": "low", "external_web_access": None}


def _make_module(**items: Any) -> ModuleType:
    module = ModuleType("declared")
    vars(module).update(__file__="declared.py", **items)
    return module


def test_hosted_tools_of_the_sdk_are_offered() -> None:
    """In their wire form."""
    module = _make_module(web=_declare("WebSearchTool", **WEB), shell=_declare("ShellTool", environment={"type": "x"}))

    assert [it.declaration for it in compile_items(collect_items(module))] == [
        {"type": "web_search", "search_context_size": "low", "filters": {"allowed_domains": ["e.org"]}},
        {"type": "shell", "environment": {"type": "x"}},
    ]


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        (_declare("Agent"), "an agent runs models"),
        (_declare("MCPServerStdio"), "an MCP server is named in SIDECALL_MCP_SERVERS"),
        (_declare("ComputerTool"), "write the tool that works the computer with @tool(native='computer')"),
        (_declare("ShellTool", executor=print, environment={"type": "local"}), "`--toolkit shell` runs such calls in"),
        (_declare("LocalShellTool", executor=print), "`--toolkit shell` runs such calls in a sandbox"),
        (_declare("ApplyPatchTool", editor=print), "`--toolkit files` runs such calls"),
    ],
)
def test_what_cannot_be_offered_is_named(thing: Any, reason: str) -> None:
    """With the reason."""
    module = _make_module(it=thing)

    assert collect_items(module) == []

    [omission] = find_omissions(module)
    assert omission.text.startswith(f"it, of the class {type(thing).__name__}, is not offered: {reason}")


def test_other_things_are_none_of_these() -> None:
    """No matter what their names are."""
    own = dataclass(type("WebSearchTool", (), {}))()

    assert adopt_declaration(own) is None
    assert adopt_declaration(3) is None


def test_options_that_are_lost_are_named() -> None:
    """Those that the tool has."""
    asked = _declare("FunctionTool", custom_data_extractor=print)

    assert [it.partition(" ")[0] for it in find_lost_options(asked)] == ["custom_data_extractor"]
    assert find_lost_options(_declare("FunctionTool", custom_data_extractor=None)) == ()

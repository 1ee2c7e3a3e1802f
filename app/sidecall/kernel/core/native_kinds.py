"""Providers' built-in tools that a tool may implement, and their arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

# `computer` is OpenAI's, with a list of actions; `computer_action` is Anthropic's, with one; `computer_use` is any of
# Gemini's functions, each under its own name.
NativeKind = Literal[
    "shell",
    "apply_patch",
    "computer",
    "tool_search",
    "bash",
    "text_editor",
    "memory",
    "computer_action",
    "computer_use",
]
GrammarSyntax = Literal["lark", "regex"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The required form of a custom tool's text, which OpenAI's models then always follow.

    The server also enforces a `regex`, which must match the whole text; other models read a `lark` grammar in the
    description.
    """

    syntax: GrammarSyntax
    definition: str


@dataclass(frozen=True, slots=True)
class NativeArguments:
    """The arguments of a built-in tool: required ones and optional ones."""

    always: tuple[str, ...] = ()
    sometimes: tuple[str, ...] = ()


ARGUMENTS: Mapping[NativeKind, NativeArguments] = {
    "shell": NativeArguments(("commands",), ("timeout_ms", "max_output_length")),
    "apply_patch": NativeArguments(("type", "path"), ("diff",)),
    "computer": NativeArguments(("actions",)),
    "tool_search": NativeArguments(),
    "bash": NativeArguments((), ("command", "restart")),
    "text_editor": NativeArguments(("command", "path")),
    "memory": NativeArguments(("command",)),
    "computer_action": NativeArguments(("action",)),
    "computer_use": NativeArguments(),
}
# The names under which Anthropic's models call theirs.
NAMES: Mapping[NativeKind, str] = {
    "bash": "bash",
    "text_editor": "str_replace_based_edit_tool",
    "memory": "memory",
    "computer_action": "computer",
}

# Names that models still know from earlier versions, or from the types of their tools.
EARLIER: Mapping[str, str] = {
    "str_replace_editor": NAMES["text_editor"],
    "str_replace_edit_tool": NAMES["text_editor"],
    "text_editor": NAMES["text_editor"],
}


def tell_member(toolset: str, name: str) -> str:
    """Return a toolset member's name as models of its provider call it, with its toolset."""
    return f"{toolset}.{name.removeprefix(name_member(toolset, ''))}"


def name_member(toolset: str, name: str) -> str:
    """Return a unique name for a toolset's member, by which models of other providers call it."""
    return f"{toolset}_{name}"

"""The built-in tools of providers that a tool may implement, and what each is called with."""

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
    """What the text of a custom tool has to look like: OpenAI's models then write nothing else.

    The server holds a `regex` too, which has to match the whole text; other models read a `lark` grammar in the
    description.
    """

    syntax: GrammarSyntax
    definition: str


@dataclass(frozen=True, slots=True)
class NativeArguments:
    """What a built-in tool is called with: the arguments that are always there, and those that may be."""

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
    """Name a member by its toolset and the name that models of its provider call it by."""
    return f"{toolset}.{name.removeprefix(name_member(toolset, ''))}"


def name_member(toolset: str, name: str) -> str:
    """Name a member of a toolset so that no other tool has its name; models of other providers call it by that."""
    return f"{toolset}_{name}"

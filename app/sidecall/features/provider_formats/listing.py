"""What a listing asks of a provider's form: tools as the built-in ones that they implement, searches, and notes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sidecall.features.provider_formats.lint import lint_tool
from sidecall.features.provider_formats.searches import find_search, list_deferred, render_deferred, render_search
from sidecall.kernel.core.options import NAMES, NativeKind
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.schema.forms.definitions import DefinitionFormat, find_form
from sidecall.rest.tool_selection import Declared, HostedTools

__all__ = ["declare", "find_search", "lint_tool", "list_deferred", "render_deferred", "render_search"]

_RESPONSES: Mapping[NativeKind, Callable[[CompiledTool], Schema]] = {
    "shell": lambda _: {"type": "shell", "environment": {"type": "local"}},
    "apply_patch": lambda _: {"type": "apply_patch"},
    "computer": lambda _: {"type": "computer"},
    "tool_search": lambda tool: {
        "type": "tool_search",
        "execution": "client",
        "description": tool.description,
        "parameters": tool.args_schema.flat,
    },
}
_ANTHROPIC: Mapping[NativeKind, Callable[[CompiledTool], Schema]] = {
    "bash": lambda _: {"type": "bash_20250124"},
    "text_editor": lambda _: {"type": "text_editor_20250728"},
    "memory": lambda _: {"type": "memory_20250818"},
    "computer_action": lambda tool: {"type": "computer_20251124", **_find_display(tool)},
}
# The members of Anthropic's toolsets, and those that are off unless they are wanted.
OFF = "file_upload javascript_exec read_console read_network".split()
MEMBERS: Mapping[str, frozenset[str]] = {
    "browser": frozenset(
        "close_tab double_click find form_input get_page_text hold_key hover key left_click left_click_drag"
        " left_mouse_down left_mouse_up list_tabs middle_click mouse_move navigate new_tab read_page right_click"
        " screenshot scroll scroll_to switch_tab triple_click type wait zoom".split()
        + OFF
    ),
    "computer": frozenset(
        "cursor_position double_click hold_key key left_click left_click_drag left_mouse_down left_mouse_up"
        " middle_click mouse_move right_click screenshot scroll triple_click type wait zoom".split()
    ),
}
_TOOLSETS = {"browser": "browser_toolset_20260801", "computer": "computer_toolset_20260801"}
_DISPLAY = ("display_width_px", "display_height_px", "display_number", "enable_zoom")


def declare(tools: Sequence[CompiledTool], form: DefinitionFormat, hosted: HostedTools) -> Declared:
    """Choose between what a provider has of its own and what is here, and declare what stands for such a tool."""
    chosen = choose_hosted(tools, hosted, has_room=find_form(form).has_hosted)
    return Declared(chosen) if hosted == "replace" else declare_native(chosen, form)


def declare_native(tools: Sequence[CompiledTool], form: str) -> Declared:
    """Find the declarations; of several tools for one declaration only the first stays in the list."""
    if form == "openai":
        return Declared(tools, {tool.name: [_write_chat_text(tool)] for tool in tools if tool.options.input == "text"})
    if form == "openai-responses":
        texts = {tool.name: [_write_text(tool)] for tool in tools if tool.options.input == "text"}
        return Declared(tools, texts | _declare_each(tools, _RESPONSES))
    if form == "anthropic":
        return _declare_toolsets(tools, _declare_each(tools, _ANTHROPIC))
    if form == "gemini":
        return _declare_computer(tools)
    return Declared(tools)


def choose_hosted(tools: Sequence[CompiledTool], hosted: HostedTools, *, has_room: bool) -> list[CompiledTool]:
    """Leave out a hosted tool where a local one does the same, or the local one where the hosted one is listed."""
    known = {tool.declaration["type"] for tool in tools if tool.declaration is not None} if has_room else set()
    ours = {_find_replaced(tool) for tool in tools if tool.declaration is None}
    if hosted == "replace":
        return [tool for tool in tools if tool.declaration is None or tool.declaration["type"] not in ours]
    return [tool for tool in tools if tool.declaration is not None or _find_replaced(tool) not in known]


def _find_replaced(tool: CompiledTool) -> str:
    """Return the type of a provider's tool that a tool replaces: as its author says, or by its name."""
    return str(tool.options.extras.get("replaces", tool.name))


def _declare_each(
    tools: Sequence[CompiledTool], forms: Mapping[NativeKind, Callable[[CompiledTool], Schema]]
) -> dict[str, list[Schema]]:
    made: dict[str, list[Schema]] = {}
    for tool in tools:
        for kind in tool.options.native:
            if kind in forms:
                named = {"name": NAMES[kind]} if kind in NAMES else {}
                made.setdefault(tool.name, []).append({**forms[kind](tool), **named})
    return made


def _find_display(tool: CompiledTool) -> Schema:
    return {name: tool.options.extras[name] for name in _DISPLAY if name in tool.options.extras}


def _declare_toolsets(tools: Sequence[CompiledTool], made: dict[str, list[Schema]]) -> Declared:
    """Declare each toolset at the position of its first member, without members that are not registered."""
    members: dict[str, dict[str, CompiledTool]] = {}
    for tool in tools:
        toolset = tool.options.toolset or ""
        name = tool.name.removeprefix(f"{toolset}_")
        if name in MEMBERS.get(toolset, ()):
            members.setdefault(toolset, {})[name] = tool
    left_out: set[str] = set()
    for toolset, found in members.items():
        first, *rest = found.values()
        made[first.name] = [_write_toolset(toolset, found.keys())]
        left_out.update(tool.name for tool in rest)
    return Declared([tool for tool in tools if tool.name not in left_out], made)


def _write_toolset(toolset: str, found: Any) -> Schema:
    wanted = {name: name in found for name in sorted(MEMBERS[toolset])}
    changed = {name: {"enabled": is_on} for name, is_on in wanted.items() if is_on == (name in OFF)}
    return {"type": _TOOLSETS[toolset], **({"configs": changed} if changed else {})}


def _declare_computer(tools: Sequence[CompiledTool]) -> Declared:
    """Declare Gemini's computer once for all its functions."""
    found = [tool for tool in tools if "computer_use" in tool.options.native]
    if not found:
        return Declared(tools)
    said: dict[str, Any] = {"environment": "ENVIRONMENT_BROWSER"}
    for tool in reversed(found):
        said |= tool.options.extras.get("computer_use", {})
    left_out = {tool.name for tool in found[1:]}
    return Declared([tool for tool in tools if tool.name not in left_out], {found[0].name: [{"computerUse": said}]})


def _write_text(tool: CompiledTool) -> Schema:
    grammar = tool.options.grammar
    form: Schema = {"type": "text"}
    if grammar is not None:
        form = {"type": "grammar", "syntax": grammar.syntax, "definition": grammar.definition}
    return {"type": "custom", "name": tool.name, "description": tool.description, "format": form}


def _write_chat_text(tool: CompiledTool) -> Schema:
    """Write a custom tool of Chat Completions, where the grammar is nested one level deeper."""
    written = _write_text(tool)
    form = written["format"]
    if form["type"] == "grammar":
        form = {"type": "grammar", "grammar": {"syntax": form["syntax"], "definition": form["definition"]}}
    said = {"name": tool.name, "description": tool.description, "format": form}
    return {"type": "custom", "custom": said}

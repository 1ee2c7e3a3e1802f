"""Find the tool that implements the native tool which a call names."""

import json
from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.messages import ToolCall, make_unchecked
from sidecall.kernel.core.native_results import APPROVAL, CUT_OFF, DECISION, PART, SEARCH_BY_PATTERN, SEARCH_BY_WORDS
from sidecall.kernel.core.options import NAMES, NativeKind, name_member
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.describe import find_text
from sidecall.rest.parsed_call import ReceivedCall

_KINDS: Mapping[str, NativeKind] = {
    "shell_call": "shell",
    "local_shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
}
_TEXTS = ("custom", "custom_tool_call")


def resolve_target(sent: ReceivedCall, registry: Registry) -> None:
    """Name the tool that implements a call's target; if there is none, a name that no tool can have."""
    call = sent.call
    kind: str = "" if call.item is None else call.item["type"]
    if sent.dialect == "gemini":
        sent.call = _resolve_computer(call, registry)
    elif kind in _KINDS:
        sent.call = _rename(call, _name_implementer(_KINDS[kind], registry))
    elif kind == "tool_search_call":
        sent.call = _rename(call, _name_search(call, registry))
    elif kind == "mcp_approval_request":
        own = registry.get(APPROVAL)
        name = APPROVAL if own is not None and own.is_own else _explain_missing(APPROVAL)
        sent.call = _rename(call, name, _read_question(call.args))
    elif kind in _TEXTS:
        sent.call = _rename(call, call.name, _place_text(call, registry))
    elif kind == "tool_use":
        sent.call = _resolve_anthropic(call, registry)


def _rename(call: ToolCall, name: str, args: dict[str, Any] | str | None = None) -> ToolCall:
    return make_unchecked(ToolCall, {**call.__dict__, "name": name, "args": call.args if args is None else args})


def _name_implementer(kind: NativeKind, registry: Registry) -> str:
    tool = registry.find_native(kind)
    return _explain_missing(kind) if tool is None else tool.name


def _explain_missing(what: str) -> str:
    return f"{what} (built-in)"


def _name_search(call: ToolCall, registry: Registry) -> str:
    own = registry.find_native("tool_search")
    if own is not None:
        return own.name
    return SEARCH_BY_PATTERN if "pattern" in call.args else SEARCH_BY_WORDS


def _resolve_anthropic(call: ToolCall, registry: Registry) -> ToolCall:
    """Find a member of a toolset by both names, and others by the name that their models use."""
    toolset = (call.item or {}).get("toolset_name")
    if toolset is not None:
        tool = registry.get(name_member(toolset, call.name))
        is_member = tool is not None and tool.options.toolset == toolset
        return _rename(call, tool.name if tool is not None and is_member else f"{toolset}.{call.name}")
    kind = next((kind for kind, name in NAMES.items() if name == call.name), None)
    tool = None if kind is None else registry.find_native(kind)
    # Which repeats nothing.
    item = call.item if CUT_OFF in (call.item or {}) else None
    fields = {**call.__dict__, "name": call.name if tool is None else tool.name, "item": item}
    return make_unchecked(ToolCall, fields)


def _place_text(call: ToolCall, registry: Registry) -> dict[str, Any] | str:
    """Put the text into the only argument of a tool that takes one; for others it is the JSON text of all arguments."""
    tool = registry.get(call.name)
    name = None if tool is None else _name_text(tool)
    return call.args if name is None else {name: call.args}


def _name_text(tool: CompiledTool) -> str | None:
    schema = tool.args_schema.flat
    # Agents declare a tool of this name for whole patches, which models write verbatim.
    takes_patches = "apply_patch" in tool.options.native and "input" in schema.get("properties", {})
    return "input" if takes_patches else find_text(schema)


def _read_question(args: Any) -> dict[str, Any]:
    """Show a person arguments, and not their text, where it can be read."""
    try:
        return {**args, "arguments": json.loads(args["arguments"])}
    except (TypeError, ValueError, RecursionError):
        return dict(args)


def _resolve_computer(call: ToolCall, registry: Registry) -> ToolCall:
    """Keep what Gemini wants to be acknowledged, if its tool works at a computer."""
    tool = registry.get(call.name)
    if tool is None or "computer_use" not in tool.options.native or not isinstance(call.args, dict):
        return call
    decision = call.args.get(DECISION)
    args = {key: value for key, value in call.args.items() if key != DECISION}
    item = {"type": PART, **(call.item or {}), "is_computer": True}
    if isinstance(decision, dict):
        item[DECISION] = decision
    return make_unchecked(ToolCall, {**call.__dict__, "args": args, "item": item})

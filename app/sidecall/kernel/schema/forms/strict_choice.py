"""Choose which tools of a list are strict: those that can be, up to the API's limits."""

from collections.abc import Collection, Iterable

from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.schema.forms.anthropic import (
    MAX_OPTIONAL,
    MAX_UNIONS,
    count_loose,
    is_recursive,
    to_anthropic,
)
from sidecall.kernel.schema.forms.mirrored import drop_headers
from sidecall.kernel.schema.forms.one_object import has_choice
from sidecall.kernel.schema.forms.strict import find_strict_obstacles

# Strict tools of one request that Anthropic takes.
_MAX_TOOLS = 20
# The forms whose API takes only so many.
LIMITED = ("anthropic",)
# The forms in which a choice of objects can be listed as it is.
WITH_CHOICES = ("mcp", "json_schema")


def choose_flat(tool: CompiledTool) -> Schema:
    """Return the schema from which a tool's forms are made."""
    return drop_headers(tool.args_schema.flat) if tool.mirrored else tool.args_schema.flat


def choose_strict(tools: Iterable[CompiledTool], form: str, *, asked: bool) -> Collection[str]:
    """Return the names of the tools that are listed as strict.

    Args:
        tools: The tools of one request, in their order: where there are too many, the first of them are strict.
        form: Whose form it is.
        asked: Whether strict tools are asked for; what a tool's own options say beats it.
    """
    wanted = (tool for tool in tools if (asked if tool.options.strict is None else tool.options.strict))
    if form in LIMITED:
        return _limit(wanted)
    return {tool.name for tool in wanted if _can_be_strict(choose_flat(tool), form)}


def _can_be_strict(flat: Schema, form: str) -> bool:
    return not (form in WITH_CHOICES and has_choice(flat)) and not find_strict_obstacles(flat)


def _limit(tools: Iterable[CompiledTool]) -> Collection[str]:
    """Take tools while the limits allow; one that needs too much is skipped in favour of later ones."""
    chosen: set[str] = set()
    room = (MAX_OPTIONAL, MAX_UNIONS)
    for tool in tools:
        if len(chosen) == _MAX_TOOLS:
            break
        flat = choose_flat(tool)
        if is_recursive(flat) or find_strict_obstacles(flat):
            continue
        optional, unions = count_loose(to_anthropic(flat))
        left = (room[0] - optional, room[1] - unions)
        if min(left) >= 0:
            chosen.add(tool.name)
            room = left
    return chosen

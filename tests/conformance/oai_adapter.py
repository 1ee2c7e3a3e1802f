"""Offer functions as tools through Sidecall under the names that `oai_compare` calls."""

from collections.abc import Callable
from typing import Any

from sidecall import StructuredTool, ToolContext
from sidecall.kernel.schema.forms.strict import find_strict_obstacles, to_strict

ContextType = ToolContext
ToolContextType = ToolContext


def schema(
    func: Callable[..., Any],
    *,
    strict: bool,
    docstring_style: str | None = None,
    name_override: str | None = None,
    description_override: str | None = None,
    use_docstring_info: bool = True,
) -> dict[str, Any]:
    """Answer the name, the description and the parameters of the tool that Sidecall makes of a function.

    Raises:
        ValueError: The tool has no strict form.
        SidecallError: The function cannot be a tool.
    """
    asked: dict[str, Any] = {"docstring_style": docstring_style} if docstring_style else {}
    if not use_docstring_info:
        asked["use_docstring_info"] = False
    compiled = StructuredTool.from_function(
        func, name=name_override, description=description_override, **asked
    ).compiled
    parameters = compiled.args_schema.json_schema
    obstacles = find_strict_obstacles(parameters) if strict else []
    if obstacles:
        raise ValueError("; ".join(obstacles))
    return {
        "name": compiled.name,
        "description": compiled.description,
        "params_json_schema": to_strict(parameters) if strict else parameters,
    }

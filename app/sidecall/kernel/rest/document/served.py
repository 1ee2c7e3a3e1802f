"""Use a served tool in examples where the default one is not served."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.errors import NotAToolCall
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.visible import is_permitted
from sidecall.kernel.registry import Registry
from sidecall.kernel.rest.dialects import EXAMPLES
from sidecall.kernel.rest.document.sample import make_arguments
from sidecall.kernel.schema.forms.definitions import DefinitionFormat, render_definitions

_NAME = EXAMPLES["langchain"]["name"]
_ARGS = EXAMPLES["langchain"]["args"]
# What examples have of tools: names, arguments as they are and as text, and results.
_NAMES = (_NAME, "delete_order")
_ALL_ARGS = (_ARGS, {"order": 7}, {"order": 8})
_TEXT = json.dumps(_ARGS)
_RESULTS = ("42", "Deleted order 7.")
# Examples that say nothing about another tool.
_OTHERS = frozenset({"clock", "failure", "turn"})
_FORMS: tuple[DefinitionFormat, ...] = ("openai", "anthropic", "gemini")  # of listings


@contextmanager
def naming_served(registry: Registry, caller: Caller) -> Iterator[None]:
    """Replace the tool in a refusal's example by one that is served.

    Raises:
        NotAToolCall: What is done within has raised it.
    """
    try:
        yield
    except NotAToolCall as error:
        name_served(error, registry, caller)
        raise


def name_served(error: NotAToolCall, registry: Registry, caller: Caller) -> None:
    """Replace the tool in a refusal's example by one that its caller may see."""
    tool = _choose_tool(registry, caller)
    if tool is not None and "example" in error.members:
        error.members = {**error.members, "example": _rewrite(error.members["example"], tool)}


def show_served(document: dict[str, Any], registry: Registry) -> dict[str, Any]:
    """Return the OpenAPI document with examples for a served tool."""
    tool = _choose_tool(registry, ANONYMOUS)
    return document if tool is None else {**document, "paths": _rewrite_examples(document["paths"], tool)}


def _choose_tool(registry: Registry, caller: Caller) -> CompiledTool | None:
    """Choose the tool for examples; None if the default one is served, or no tool is visible to everyone."""
    known = registry.get(_NAME)
    if known is not None and _ARGS.keys() == known.args_schema.flat.get("properties", {}).keys():
        return None
    return next((tool for tool in registry if tool.options.is_for_all and is_permitted(tool, caller)), None)


def _rewrite(value: Any, tool: CompiledTool) -> Any:
    if value in _ALL_ARGS:
        return make_arguments(tool)
    if isinstance(value, dict):
        return {key: _rewrite(item, tool) for key, item in value.items()}
    if isinstance(value, list):
        return [_rewrite(item, tool) for item in value]
    if value == _TEXT:
        return json.dumps(make_arguments(tool), ensure_ascii=False)
    if value in _NAMES:
        return tool.name
    return "What the tool returned." if value in _RESULTS else value


def _rewrite_examples(node: Any, tool: CompiledTool) -> Any:
    if isinstance(node, list):
        return [_rewrite_examples(item, tool) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _rewrite_each(value, tool)
        if key == "examples" and isinstance(value, dict)
        else _rewrite_examples(value, tool)
        for key, value in node.items()
    }


def _rewrite_each(examples: dict[str, Any], tool: CompiledTool) -> dict[str, Any]:
    """Rewrite the named examples of one place; a listing shows the tool itself."""
    kept = {name: {**it, "value": _rewrite(it["value"], tool)} for name, it in examples.items() if name not in _OTHERS}
    for form in _FORMS:
        if kept.get(form, {}).get("summary") == f"format={form}":
            kept[form]["value"] = render_definitions([tool], form)
    return kept

"""A context that is an object of this process, for in-process calls."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pydantic import BaseModel

from sidecall.kernel.core.context import RunContextWrapper, ToolContext

# What the OpenAI Agents SDK tells of the run that a call belongs to.
_OF_RUN = ("usage", "turn_input", "tool_input", "agent", "run_config", "tool_call", "tool_namespace")


class HeldContext(dict[str, Any]):
    """A mapping of an object's fields; the tool gets the object itself."""

    def __init__(self, held: Any, about: Mapping[str, Any] | None = None) -> None:
        """Wrap the object.

        Args:
            held: It.
            about: What else the tool's ToolContext has.
        """
        super().__init__(_list_fields(held))
        self._held = held
        self._about = about or {}

    @classmethod
    def of(cls, context: RunContextWrapper[Any]) -> "HeldContext":
        """Wrap the context of a ToolContext, such as one made in a test."""
        return cls(context.context, {name: getattr(context, name) for name in _OF_RUN})

    def put_into(self, made: ToolContext) -> ToolContext:
        """Return the ToolContext of a call with the wrapped object."""
        return replace(made, context=self._held, **self._about)


def read_context(given: Any, configured: Mapping[str, Any]) -> Mapping[str, Any]:
    """Combine the context that an in-process program passes with the `configurable` of its config."""
    if given is None or isinstance(given, Mapping):
        return given if isinstance(given, HeldContext) else {**configured, **(given or {})}
    return HeldContext(given)


def _list_fields(held: Any) -> Mapping[str, Any]:
    if isinstance(held, Mapping):
        return held
    if is_dataclass(held):
        return {field.name: getattr(held, field.name) for field in fields(held)}
    return dict(held) if isinstance(held, BaseModel) else getattr(held, "__dict__", {})

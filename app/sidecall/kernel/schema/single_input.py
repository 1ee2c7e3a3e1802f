"""The arguments of LangChain's Tool: one text under any name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.tool import MOST_VALUES, Schema

_SCHEMA: Schema = {"type": "object", "properties": {"__arg1": {"type": "string"}}, "required": ["__arg1"]}


@dataclass(frozen=True, slots=True)
class SingleInputArgsSchema:
    """One string is advertised, and one value of any name is accepted, as in LangChain."""

    tool: str
    json_schema: Schema = field(default_factory=lambda: _SCHEMA)
    flat: Schema = field(default_factory=lambda: _SCHEMA)
    hidden: Mapping[str, str] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()

    @property
    def most_at_once(self) -> int:
        """How many values are validated without others having a turn."""
        return MOST_VALUES

    def in_steps(self) -> "SingleInputArgsSchema":
        """Return a copy that validates in steps, between which other threads may run."""
        return self

    def drop_unknown(self) -> "SingleInputArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return self

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values unchanged, since any name is accepted."""
        return dict(values)

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Return the one value.

        Raises:
            ToolException: There is not exactly one; the text is LangChain's.
        """
        del injected, repaired, ignored
        if len(args) != 1:
            raise ToolException(refuse_many(self.tool, list(args.values())))
        return {"tool_input": next(iter(args.values()))}


def refuse_many(tool: str, given: list[Any]) -> str:
    """Format LangChain's error for several arguments, or none."""
    return (
        f"Too many arguments to single-input tool {tool}.\n"
        f"                Consider using StructuredTool instead. Args: {given}"
    )

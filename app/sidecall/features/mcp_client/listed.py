"""A tool as its MCP server lists it."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import to_json

from sidecall.kernel.core.options import ToolAnnotations
from sidecall.kernel.core.tool import Schema

_PINNED = frozenset(("readOnlyHint", "destructiveHint", "idempotentHint"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its server lists it."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: Schema = field(default_factory=dict)
    output_schema: Schema | None = None
    annotations: ToolAnnotations = field(default_factory=ToolAnnotations)

    @property
    def fingerprint(self) -> str:
        """A hash of its name, description, schemas and effects."""
        # The hints of the first version, so that older pins stay valid.
        hints = {name: value for name, value in self.annotations.mcp.items() if name in _PINNED}
        said: list[Any] = [self.name, self.description, self.input_schema, self.output_schema, hints]
        return hashlib.sha256(to_json(said)).hexdigest()

    @property
    def shape(self) -> str:
        """A hash of its schemas and effects, without the description."""
        return replace(self, description="").fingerprint

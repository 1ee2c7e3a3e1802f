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
    """A tool as its server says it."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: Schema = field(default_factory=dict)
    output_schema: Schema | None = None
    annotations: ToolAnnotations = field(default_factory=ToolAnnotations)

    @property
    def fingerprint(self) -> str:
        """A text that changes when its name, description, schemas or what it says of its effects do."""
        # The hints that were hashed from the first, so that what was pinned before is still the same.
        hints = {name: value for name, value in self.annotations.mcp.items() if name in _PINNED}
        said: list[Any] = [self.name, self.description, self.input_schema, self.output_schema, hints]
        return hashlib.sha256(to_json(said)).hexdigest()

    @property
    def shape(self) -> str:
        """A text that changes when its schemas or what it says of its effects do, and not with its description."""
        return replace(self, description="").fingerprint

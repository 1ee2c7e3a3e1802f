"""A tool as its MCP server lists it."""

import hashlib
from dataclasses import field
from typing import Any

from pydantic_core import to_json

from sidecall.core.options import ToolAnnotations
from sidecall.core.tool import Schema
from sidecall.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its server says it."""

    name: str
    description: str = ""
    input_schema: Schema = field(default_factory=dict)
    output_schema: Schema | None = None
    annotations: ToolAnnotations = field(default_factory=ToolAnnotations)

    @property
    def fingerprint(self) -> str:
        """A text that changes when anything that it says of itself does."""
        said: list[Any] = [self.name, self.description, self.input_schema, self.output_schema, self.annotations.mcp]
        return hashlib.sha256(to_json(said)).hexdigest()

"""What a tool's results look like where a program reads them as values: their schema, and whether they fit it."""

from typing import Any

from pydantic_core import from_json

from sidecall.core.messages import Content
from sidecall.core.tool import CompiledTool, Schema
from sidecall.dataclasses import dataclass
from sidecall.schema.validators import compile_validator

# Under what a result stands that is no object: all clients of MCP take objects, and few take anything else.
WRAPPER = "result"
# A text and nothing are said in words already.
_SAYS_NOTHING: tuple[Schema, ...] = ({"type": "string"}, {"type": "null"}, {})


class Misfit(Exception):
    """A result is not what its tool's return annotation promises."""


def describe_results(tool: CompiledTool) -> Schema | None:
    """Return the schema of a tool's results as objects; None where there is nothing to be said beside the text."""
    schema = tool.output_schema
    # What may stand for an image or a file is shown, and no value.
    if schema is None or schema in _SAYS_NOTHING or tool.reads_dicts:
        return None
    if _is_wrapped(schema):
        beside = {"$defs": schema["$defs"]} if "$defs" in schema else {}
        inner = {key: value for key, value in schema.items() if key != "$defs"}
        return {"type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER], **beside}
    return schema


def _is_wrapped(schema: Schema) -> bool:
    return schema.get("type") != "object"


@dataclass(frozen=True, slots=True)
class Structure:
    """How the results of one tool become values that fit its schema."""

    schema: Schema
    is_wrapped: bool
    validator: Any

    def wrap(self, value: Any) -> Any:
        """Return a value as it is sent, within an object where it is none."""
        return {WRAPPER: value} if self.is_wrapped else value

    def read(self, content: Content) -> Any:
        """Return the value that a content says.

        Raises:
            Misfit: It is none that the schema describes.
        """
        for value in _list_meanings(content):
            structured = self.wrap(value)
            if self.validator.is_valid(structured):
                return structured
        raise Misfit

    def read_bare(self, content: Content) -> Any:
        """Return that value as the tool returned it, also where it is no object.

        Raises:
            Misfit: It is none that the schema describes.
        """
        value = self.read(content)
        return value[WRAPPER] if self.is_wrapped else value


def _list_meanings(content: Content) -> list[Any]:
    """List what a content may stand for: JSON text its value, before the text itself."""
    if not isinstance(content, str):
        return [content]
    try:
        return [from_json(content, allow_inf_nan=False), content]
    except ValueError:
        return [content]


def make_structure(tool: CompiledTool) -> Structure | None:
    """Compile the schema of a tool's results; None where they have none."""
    schema = describe_results(tool)
    if schema is None:
        return None
    assert tool.output_schema is not None
    return Structure(schema, _is_wrapped(tool.output_schema), compile_validator(schema))

"""Results as values: the output schema, and validation against it."""

from collections.abc import Sequence
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from sidecall.compiler.choices import is_costly, leads_back
from sidecall.compiler.json_schema_library import compile_validator
from sidecall.kernel.core.errors import ToolOutputError
from sidecall.kernel.core.incremental_validation import validate
from sidecall.kernel.core.tool import ResultSchema, Schema
from sidecall.kernel.json_data.to_json import to_plain

# Under what a result stands that is no object: all clients of MCP take objects, and few take anything else.
WRAPPER = "result"
# A text and nothing are said in words already.
_SAYS_NOTHING: tuple[Schema, ...] = ({"type": "string"}, {"type": "null"}, {})
_MOST_SAID = 300
_HIDDEN = "deep in it is something else than any of the things that may be there"


def make_results(output_schema: Schema | None, returns: Any = None) -> ResultSchema | None:
    """Make the result schema of a tool; None if only text is returned.

    Args:
        output_schema: The schema of its results.
        returns: Its return annotation, None where it has none.
    """
    if output_schema is None or output_schema in _SAYS_NOTHING:
        return None
    return Structure(output_schema, returns)


class Structure:
    """The results of one tool as values that fit its schema."""

    __slots__ = ("_adapter", "_returns", "_validator", "is_wrapped", "scalars", "schema")

    def __init__(self, output_schema: Schema, returns: Any = None) -> None:
        self.is_wrapped = output_schema.get("type") != "object"
        self.schema = _wrap_schema(output_schema) if self.is_wrapped else output_schema
        self.scalars = frozenset(_list_scalars(output_schema))
        self._returns = returns
        self._adapter: TypeAdapter[Any] | None = None
        self._validator: Any = None

    def wrap(self, value: Any) -> Any:
        """Return a value as it is sent: a non-object is wrapped in an object."""
        return {WRAPPER: value} if self.is_wrapped else value

    def compile(self) -> None:
        """Compile the schema, which is otherwise done at the first result.

        Raises:
            ValueError: It is none.
        """
        self._validator = compile_validator(self.schema)

    def settle(self, name: str, value: Any, lost: Sequence[str] = ()) -> Any:
        """Return a result that fits, converted by pydantic if necessary; raise ToolOutputError otherwise."""
        if type(value) in self.scalars or self._fits(value):
            return value
        converted = self._convert(value)
        if self._fits(converted):
            return converted
        raise ToolOutputError(
            f"Error: {name} returned something else than its output schema says: {self._explain(value, lost)}."
        )

    def _fits(self, value: Any) -> bool:
        if self._validator is None:
            self.compile()
        try:
            fits: bool = self._validator.is_valid(self.wrap(value))
        except ValueError:  # It has keys or texts of a kind of their own, which are others once they are sent.
            fits = self._validator.is_valid(self.wrap(to_plain(value)))
        return fits

    def _convert(self, value: Any) -> Any:
        """Convert a value as FastAPI does with return values; return it unchanged if that fails."""
        if self._returns is None:
            return value
        if self._adapter is None:
            self._adapter = TypeAdapter(self._returns)
        try:
            converted = validate(self._adapter, value)
            return to_plain(self._adapter.dump_python(converted, mode="json", by_alias=True))
        except (ValidationError, PydanticUserError, PydanticSerializationError, TypeError, ValueError):
            return value

    def _explain(self, value: Any, lost: Sequence[str]) -> str:
        if lost:
            return "; ".join(f"{note.removesuffix(' was sent as null')}, which JSON has not" for note in lost)
        said, plain = "", self.wrap(to_plain(value))
        if leads_back(self.schema) and is_costly(plain, self.schema):
            return _HIDDEN
        try:  # One is enough, and all of them take long to list.
            self._validator.validate(plain)
        except ValueError as error:
            said = str(getattr(error, "message", error))
        return said if len(said) <= _MOST_SAID else f"{said[:_MOST_SAID]}…"


def _wrap_schema(schema: Schema) -> Schema:
    beside = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    return {"type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER], **beside}


_SCALARS: dict[Any, type] = {"integer": int, "boolean": bool, "string": str, "null": type(None), "number": int}


def _list_scalars(schema: Schema) -> list[type]:
    """List the types that always fit a schema which only constrains the type."""
    if schema.keys() == {"anyOf"}:
        return [kind for option in schema["anyOf"] for kind in _list_scalars(option)]
    return [_SCALARS[schema["type"]]] if schema.keys() == {"type"} and schema["type"] in _SCALARS else []

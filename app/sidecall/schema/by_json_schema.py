"""Check arguments by a JSON Schema."""

import copy
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sidecall.core.errors import MOST_FIELDS, FieldError, InvalidArguments, InvalidToolOption, SchemaInferenceError
from sidecall.core.tool import Schema
from sidecall.schema.describe import describe
from sidecall.schema.explain import explain_unknown_argument
from sidecall.schema.mend import decode_at
from sidecall.schema.paths import find_schema
from sidecall.schema.references import inline_references, inline_root, resolve
from sidecall.schema.shape import strip_titles

# Stands in messages where the validator would repeat what was sent.
_MASK = "Input"


@dataclass(frozen=True, slots=True)
class JsonArgsSchema:
    """The arguments of one tool, described and checked by a JSON Schema, which also fills in its defaults.

    The function gets what JSON has: no value is turned into another type.
    """

    json_schema: Schema
    flat: Schema
    validator: Any
    takes: frozenset[str] | None
    hidden: Mapping[str, str] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()

    def find_unknown(self, args: Mapping[str, Any]) -> list[str]:
        """Name the arguments that the function does not take."""
        return [] if self.takes is None else [name for name in args if name not in self.takes]

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the names, which are those of the schema."""
        return dict(values)

    def validate(self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str]) -> dict[str, Any]:
        """Check the arguments and return a copy of them with defaults.

        Text where an object or an array is wanted is parsed and noted in `repaired`.

        Raises:
            InvalidArguments: One entry per offending place.
        """
        del injected  # A schema has no fields of its own to be injected.
        given: Any = dict(args)
        errors = self._find_errors(given)
        mended = given
        for error in errors if len(errors) <= MOST_FIELDS else []:  # Each mend copies all there is.
            if error.kind.name == "type":
                mended = decode_at(mended, _find_path(error, given), repaired)
        if mended is not given:
            given, errors = mended, self._find_errors(mended)
        if errors:
            found = [(error, _find_path(error, given)) for error in errors]
            raise InvalidArguments([entry for error, path in found for entry in _make_entries(error, path, self.flat)])
        values: dict[str, Any] = _fill_defaults(given, self.flat, self.flat)
        return values if self.takes is None else {name: values[name] for name in values if name in self.takes}

    def _find_errors(self, given: Any) -> list[Any]:
        try:
            return list(islice(self.validator.iter_errors(given), MOST_FIELDS + 1))
        except ValueError as error:
            # What only this process can send: objects, and keys that are no texts.
            raise InvalidArguments(
                [{"loc": [], "type": "json_type", "msg": f"Input should be JSON: {error}"}]
            ) from error


def make_json_args_schema(
    where: str, schema: Schema, takes: frozenset[str] | None, *, forbid_unknown: bool
) -> JsonArgsSchema:
    """Compile a JSON Schema.

    Args:
        where: The tool's name and file, for errors.
        schema: The schema of an object.
        takes: The function's parameters; None when it has `**kwargs`.
        forbid_unknown: Whether an argument that the schema does not name is refused.

    Raises:
        SchemaInferenceError: It is no JSON Schema, not one of an object, or has properties the function does not take.
        InvalidToolOption: Unknown arguments are to be refused by a schema that wants them.
    """
    clean = strip_titles({key: value for key, value in inline_root(schema).items() if key != "description"})
    clean = {"type": "object", "properties": {}, **clean}
    surplus = sorted(set() if takes is None else clean["properties"].keys() - takes)
    if clean["type"] != "object" or surplus:
        reason = f"the function does not take {', '.join(surplus)}" if surplus else "it has to describe an object"
        raise SchemaInferenceError(f"{where}: args_schema: {reason}.")
    if forbid_unknown:
        clean = _forbid_unknown(where, clean)
    # Loaded with the first tool that needs it, since it holds 3 MB, and most servers have none.
    library = importlib.import_module("jsonschema_rs")
    try:
        validator = library.validator_for(clean, mask=_MASK)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise SchemaInferenceError(f"{where}: args_schema is no JSON Schema: {reason}.") from error
    return JsonArgsSchema(clean, inline_references(clean), validator, takes)


# Where a schema can name properties that `additionalProperties` beside them does not see.
_ELSEWHERE = ("$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")


def _forbid_unknown(where: str, schema: Schema) -> Schema:
    """Refuse unknown arguments in the words of JSON Schema, which a schema can say more exactly for itself."""
    said = [keyword for keyword in ("additionalProperties", *_ELSEWHERE) if keyword in schema]
    if said and schema.get("additionalProperties") is not False:
        raise InvalidToolOption(
            f"{where}: unknown_args='forbid' and args_schema, which has `{said[0]}`, may contradict each other; say in"
            " the schema itself which arguments are refused, and leave unknown_args out."
        )
    return {**schema, "additionalProperties": False}


def _find_path(error: Any, given: Any) -> tuple[str | int, ...]:
    """Find where an error is; the validator takes a key of digits for an index."""
    path: list[str | int] = []
    for step in error.instance_path:
        path.append(step if isinstance(given, list) else str(step))
        given = given[path[-1]]
    return tuple(path)


def _make_entries(error: Any, path: tuple[str | int, ...], schema: Schema) -> list[FieldError]:
    loc = list(path)
    if error.kind.name == "required":
        wanted = find_schema(schema, [*loc, error.kind.property]) or {}
        return [{"loc": [*loc, error.kind.property], "type": "missing", "msg": f"Field required ({describe(wanted)})"}]
    if error.kind.name == "additionalProperties":
        message = explain_unknown_argument(find_schema(schema, loc))
        return [{"loc": [*loc, name], "type": "extra_forbidden", "msg": message} for name in error.kind.unexpected]
    return [{"loc": loc, "type": error.kind.name, "msg": f"Input should be {describe(find_schema(schema, loc) or {})}"}]


def _fill_defaults(value: Any, schema: Schema, root: Schema) -> Any:
    """Copy a value with the defaults of absent properties filled in, at every depth."""
    schema = resolve(schema, root)
    if isinstance(value, dict):
        properties: Schema = schema.get("properties", {})
        absent = {
            name: copy.deepcopy(inner["default"])
            for name, inner in properties.items()
            if _is_to_fill(inner, name, value)
        }
        return {name: _fill_defaults(item, properties.get(name, {}), root) for name, item in (value | absent).items()}
    if isinstance(value, list):
        return [_fill_defaults(item, schema.get("items") or {}, root) for item in value]
    return value


def _is_to_fill(inner: Any, name: str, value: Mapping[str, Any]) -> bool:
    return isinstance(inner, dict) and "default" in inner and name not in value

"""Validate arguments with a JSON Schema."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sidecall.compiler.author_mistakes import describe_whole, find_mismatch, locate_fault
from sidecall.compiler.choices import choose_most_at_once
from sidecall.compiler.normalize import normalize_schema
from sidecall.kernel.core.errors import InvalidToolOption, SchemaInferenceError
from sidecall.kernel.core.incremental_validation import MOST_CHOSEN
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.drafts import hide_forbidden
from sidecall.kernel.schema.errors.reading import REPAIR, Reading
from sidecall.kernel.schema.forms.one_object import find_omissible
from sidecall.kernel.schema.references import Targets, inline_references, inline_root, map_children, resolve, walk
from sidecall.kernel.schema.whole_numbers import to_integer
from sidecall.lazy_imports import later

if TYPE_CHECKING:
    from sidecall.compiler.json_schema_validator import JsonSchemaValidator

# A server whose tools are functions needs none.
_make_validator: "Callable[..., JsonSchemaValidator]" = later(
    "sidecall.compiler.json_schema_validator:make_json_schema_validator"
)


@dataclass(frozen=True, slots=True)
class JsonArgsSchema:
    """The arguments of one tool, described and validated by a JSON Schema; `fills` inserts its defaults.

    Null for one of `omissible` means that it is not given. The function gets JSON types: nothing is converted, except
    repaired texts.
    """

    json_schema: Schema
    flat: Schema
    validator: "JsonSchemaValidator"
    takes: frozenset[str] | None
    hidden: Mapping[str, str] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    fills: bool = True
    omissible: frozenset[str] = frozenset()
    guards: int = 0
    # How many values are validated without others having a turn.
    most_at_once: int = MOST_CHOSEN

    def in_steps(self) -> "JsonArgsSchema":
        """Return a copy that validates in steps, between which other threads may run."""
        return self  # Its validator does so in any case

    def drop_unknown(self) -> "JsonArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return replace(self, guards=0)

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values under the schema's own names."""
        return dict(values)

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Validate the arguments and return a copy with defaults.

        Paths of repaired arguments are added to `repaired`, of dropped ones to `ignored`.

        Raises:
            InvalidArguments: One entry per mistake, without what was sent.
        """
        del injected  # A schema has no fields of its own to be injected.
        given: Any = _drop_nulls(args, self.omissible) if self.omissible else dict(args)
        verdict = self.validator.validate(given)
        checked = verdict.values if verdict.fits else self._repair(given, verdict, repaired, ignored)
        checked = self.validator.make_integers(checked)
        values: dict[str, Any] = _fill_defaults(checked, self.flat, self.flat) if self.fills else dict(checked)
        return values if self.takes is None else {name: values[name] for name in values if name in self.takes}

    def _repair(self, given: Mapping[str, Any], verdict: Reading, repaired: list[str], ignored: list[str]) -> Any:
        return REPAIR.mend(self.validator, given, verdict, repaired, ignored, self.guards)


def make_json_args_schema(
    where: str,
    schema: Schema,
    takes: frozenset[str] | None,
    *,
    forbid_unknown: bool,
    needs: frozenset[str] = frozenset(),
) -> JsonArgsSchema:
    """Compile a JSON Schema for arguments.

    Args:
        where: The tool's name and file, for errors.
        schema: The schema of an object.
        takes: The function's parameters; None when it has `**kwargs`.
        forbid_unknown: Whether an argument that the schema does not name is refused.
        needs: Those of the parameters that have no default.

    Raises:
        SchemaInferenceError: It is no JSON Schema, refers to another document, is not one of an object, or does not
            fit the function.
        InvalidToolOption: Unknown arguments are to be refused by a schema that wants them.
    """
    schema = inline_root(read_json_schema(where, schema))
    given = strip_titles({key: value for key, value in schema.items() if key != "description"})
    clean = {"type": "object", "properties": {}, **given}
    if isinstance(clean["type"], list) and "object" in clean["type"]:
        clean["type"] = "object"  # Arguments are never anything else.
    is_object = clean["type"] == "object" and isinstance(clean["properties"], dict)
    reason = find_mismatch(given, clean["properties"], takes, needs) if is_object else describe_whole()
    if reason is not None:
        raise SchemaInferenceError(f"{where}: args_schema: {reason}.")
    return compile_json_args_schema(where, _forbid_unknown(where, clean) if forbid_unknown else clean, takes)


def read_json_schema(where: str, schema: Any) -> Schema:
    """Convert a JSON Schema of any draft to 2020-12, with `normalize_schema`.

    Raises:
        SchemaInferenceError: It refers to what is not in it, or is too large.
    """
    try:
        return normalize_schema(schema)
    except ValueError as error:
        raise SchemaInferenceError(f"{where}: args_schema: {error}.") from error


def compile_json_args_schema(
    where: str, schema: Schema, takes: frozenset[str] | None, known: Targets | None = None
) -> JsonArgsSchema:
    """Compile the schema of an object that is already in its advertised, final form.

    `known` holds resolved definitions that other schemas share.

    Raises:
        SchemaInferenceError: It is no JSON Schema.
    """
    flat = inline_references(schema, known)
    try:
        validator = _make_validator(schema, flat, takes)
    except ValueError as error:
        raise SchemaInferenceError(f"{where}: args_schema is no JSON Schema: {locate_fault(error)}.") from error
    # Free keys of nested objects are passed on; those of the function are not.
    guards = 0 if takes is None else 1
    return JsonArgsSchema(
        schema,
        hide_forbidden(flat),
        validator,
        takes,
        omissible=find_omissible(flat),
        guards=guards,
        most_at_once=choose_most_at_once(flat, MOST_CHOSEN),
    )


def _drop_nulls(args: Mapping[str, Any], omissible: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in args.items() if value is not None or name not in omissible}


# Keywords that can declare properties which `additionalProperties` does not see.
_ELSEWHERE = ("$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")


def _forbid_unknown(where: str, schema: Schema) -> Schema:
    """Refuse unknown arguments with JSON Schema keywords; a schema may be more specific itself."""
    said = [keyword for keyword in ("additionalProperties", *_ELSEWHERE) if keyword in schema]
    if said and schema.get("additionalProperties") is not False:
        raise InvalidToolOption(
            f"{where}: unknown_args='forbid' and args_schema, which has `{said[0]}`, may contradict each other; say in"
            " the schema itself which arguments are refused, and leave unknown_args out."
        )
    return {**schema, "additionalProperties": False}


def _fill_defaults(value: Any, schema: Schema, root: Schema) -> Any:
    """Copy a value with the defaults of missing properties, at every depth."""
    schema = resolve(schema, root)
    if isinstance(value, dict):
        properties: Schema = schema.get("properties", {})
        absent = {name: _make_default(inner) for name, inner in properties.items() if _is_to_fill(inner, name, value)}
        return {name: _fill_defaults(item, properties.get(name, {}), root) for name, item in (value | absent).items()}
    if isinstance(value, list):
        listed, rest = schema.get("prefixItems", ()), schema.get("items") or {}
        first = [_fill_defaults(item, inner, root) for item, inner in zip(value, listed, strict=False)]
        return first + [_fill_defaults(item, rest, root) for item in value[len(listed) :]]
    return value


def _make_default(schema: Schema) -> Any:
    value = schema["default"]
    is_whole = schema.get("type") == "integer" and isinstance(value, float) and value.is_integer()
    return to_integer(value) if is_whole else copy.deepcopy(value)


def _is_to_fill(inner: Any, name: str, value: Mapping[str, Any]) -> bool:
    return isinstance(inner, dict) and "default" in inner and name not in value


def strip_titles(schema: Schema) -> Schema:
    """Drop every `title`, which pydantic adds and models do not need; a property of that name stays."""
    return map_children({key: value for key, value in schema.items() if key != "title"}, strip_titles)


def require_tags(schema: Schema) -> Schema:
    """Require the tag in each member of a discriminated union, since pydantic needs it even if it has a default."""
    unions = [node for _, node in walk(schema) if isinstance(node.get("discriminator"), dict)]
    tagged = [
        (union["discriminator"].get("propertyName"), resolve(option, schema))
        for union in unions
        for option in union.get("oneOf", ())
    ]
    for tag, option in tagged:
        if tag in option.get("properties", {}) and tag not in option.get("required", ()):
            option["required"] = [*option.get("required", ()), tag]
    return schema


def shape_arguments(schema: Schema, hidden: frozenset[str]) -> Schema:
    """Clean up a model's schema for a tool's arguments: an object without description and hidden fields."""
    schema = inline_root(schema)  # A model that contains itself is a bare reference.
    properties = {name: value for name, value in schema.get("properties", {}).items() if name not in hidden}
    required = [name for name in schema.get("required", []) if name not in hidden]
    said = ("type", "properties", "required", "description")
    rest = {key: value for key, value in schema.items() if key not in said}
    return {"type": "object", "properties": properties, **({"required": required} if required else {}), **rest}

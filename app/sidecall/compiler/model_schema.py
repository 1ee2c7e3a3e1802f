"""Describe a pydantic model as the JSON Schema of a tool's arguments, and make of it what validates them."""

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError
from pydantic_core.core_schema import LiteralSchema

from sidecall.compiler.choices import choose_most_at_once
from sidecall.compiler.json_args_schema import require_tags, shape_arguments, strip_titles
from sidecall.kernel.core.incremental_validation import MOST_CHOSEN
from sidecall.kernel.core.tool import MOST_VALUES, Parameter, Schema
from sidecall.kernel.schema.catch_all import make_catch_all
from sidecall.kernel.schema.errors.error_cache import ErrorCache
from sidecall.kernel.schema.infinite_numbers import takes_numbers
from sidecall.kernel.schema.model_args_schema import JsonMode, ModelArgsSchema, UnknownMode
from sidecall.kernel.schema.references import inline_references, list_schemas

# Types whose values are their own form in JSON, but for some floats.
_PLAIN = frozenset((str, int, bool, float, type(None)))


_METHODS = {kind: made.__name__ for kind, made in GenerateJsonSchema().build_schema_type_to_method().items()}


class _Generator(GenerateJsonSchema):
    """Schema generator that drops unserializable defaults without a warning on the author's terminal."""

    def build_schema_type_to_method(self) -> dict[Any, Any]:
        """Bind the methods, whose names are looked for once: each tool has a generator."""
        return {kind: getattr(self, name) for kind, name in _METHODS.items()}

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  pydantic's

    def encode_default(self, dft: Any) -> Any:
        """Drop infinity and NaN, which JSON lacks."""
        # pydantic would make an adapter for the type of each.
        value = dft if type(dft) in _PLAIN else super().encode_default(dft)
        if isinstance(value, float) and not math.isfinite(value):
            raise PydanticSerializationError("JSON has no such number")
        return value

    def literal_schema(self, schema: LiteralSchema) -> dict[str, Any]:
        """Refuse an enumeration member that no JSON value equals."""
        for value in schema["expected"]:
            if isinstance(value, Enum) and value != value.value:
                said = f"no JSON is {value} of a plain Enum; list its value in the Literal, or use a StrEnum."
                raise PydanticUserError(said, code=None)
        return super().literal_schema(schema)


def render_schema(model: type[BaseModel], hidden: frozenset[str]) -> Schema:
    """Render a model's JSON Schema as this server advertises it.

    Raises:
        PydanticInvalidForJsonSchema: A field's type cannot be said in JSON Schema.
    """
    said = strip_titles(model.model_json_schema(by_alias=True, schema_generator=_Generator))
    if said.get("additionalProperties") == {}:
        said["additionalProperties"] = True
    return shape_arguments(require_tags(said), hidden)


def render_type(adapter: TypeAdapter[Any]) -> Schema:
    """Render the JSON Schema of a type, as far as possible.

    Raises:
        PydanticInvalidForJsonSchema: It cannot be said in JSON Schema.
    """
    return require_tags(strip_titles(adapter.json_schema(by_alias=True, schema_generator=_Generator)))


def make_args_schema(  # noqa: PLR0913  what is known of a model before it is compiled
    model: type[BaseModel],
    fields: Mapping[str, str],
    hidden: frozenset[str],
    catch_all: Parameter | None = None,
    forbidden: frozenset[str] = frozenset(),
    *,
    drops_unknown: bool = False,
    said: Schema | None = None,
) -> ModelArgsSchema:
    """Compile a model, so that no work is left for calls.

    Args:
        model: What is advertised and enforced.
        fields: The function's parameter for each field.
        hidden: Fields that are injected.
        catch_all: The function's `**kwargs`, if the model is made for it.
        forbidden: Names that must not come in through `catch_all`.
        drops_unknown: Whether the function does not take what the model leaves open.
        said: Its JSON Schema, where that is known already.
    """
    names = {name: _list_names(model, name) for name in model.model_fields}
    reserved = frozenset(name for field in hidden for name in (field, *names[field]))
    json_schema = render_schema(model, reserved) if said is None else said
    accepted = frozenset(name for field in model.model_fields if field not in hidden for name in names[field])
    flat = inline_references(json_schema)
    drops = catch_all is None and _drops_unknown(model, drops_unknown)
    closed = {key: flat[key] for key in flat if key != "additionalProperties"} if drops else flat
    core_schema = repr(model.__pydantic_core_schema__)
    json_mode = _choose_json_mode(core_schema)
    unknown = _choose_unknown_mode(closed)
    is_plain = json_mode == "never" and unknown == "forbid"
    return ModelArgsSchema(
        model=model,
        json_schema=json_schema,
        flat=flat,
        closed=closed,
        fields=dict(fields),
        accepted=accepted,
        hidden={field: names[field][0] for field in hidden},
        reserved=reserved,
        drops_unknown=drops,
        unknown=unknown,
        json_mode=json_mode,
        takes_numbers=takes_numbers(flat),
        check_plainly=model.__pydantic_validator__.validate_python if is_plain else None,
        error_cache=None if unknown == "walk" else ErrorCache(closed),
        most_at_once=_choose_most_at_once(core_schema, flat),
        catch_all=None if catch_all is None else make_catch_all(catch_all, accepted, forbidden, (*flat["properties"],)),
        renamed={name: names[field][0] for field, name in fields.items() if name not in names[field]},
    )


# What text may stand for; pydantic tries these and `str` in another order when it reads JSON.
_UNION = "'type': 'union'"


_SAID_AS_TEXT = ("bytes", "date", "datetime", "time", "timedelta", "uuid", "decimal", "url", "is-instance")


# Sets compare what has the same hash, and the other is code in Python, such as that of patterns, which takes its time.
_SLOW = ("'type': 'set'", "'type': 'frozenset'", "'type': 'function-")


_MOST_SLOW = 100


def _choose_most_at_once(core_schema: str, flat: Schema) -> int:
    most = _MOST_SLOW if any(kind in core_schema for kind in _SLOW) else MOST_VALUES
    return choose_most_at_once(flat, min(most, MOST_CHOSEN)) if _UNION in core_schema else most


def _choose_json_mode(core_schema: str) -> JsonMode:
    """Choose whether arguments are validated as JSON, which is slower.

    A strict date field must accept text, its only JSON form. In a union, text may match another member than in Python.
    """
    if "'strict': True" in core_schema:
        return "always"
    has_union = _UNION in core_schema
    return "if said" if has_union and any(f"'type': '{kind}'" in core_schema for kind in _SAID_AS_TEXT) else "never"


def _choose_unknown_mode(schema: Schema) -> UnknownMode:
    """Choose how unknown names are found; pydantic would close all objects, even those with free keys."""
    objects = [node for node in list_schemas(schema) if "properties" in node]
    is_open = [bool(node.get("additionalProperties")) for node in objects]
    if not any(is_open):
        return "forbid"
    return "take" if all(is_open) else "walk"


def _drops_unknown(model: type[BaseModel], open_ones_too: bool) -> bool:
    extra = model.model_config.get("extra") or "ignore"
    return extra == "ignore" or (open_ones_too and extra == "allow")


def _list_names(model: type[BaseModel], name: str) -> list[str]:
    """List the names of a field, the advertised one first."""
    config = model.model_config
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    aliases = _list_aliases(model.model_fields[name])
    return [*aliases, name] if by_name or not aliases else aliases


def _list_aliases(field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    choices = getattr(alias, "choices", None) or [alias]
    return [choice if isinstance(choice, str) else str(choice.path[0]) for choice in choices if choice is not None]

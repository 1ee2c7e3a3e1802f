"""Validate arguments with one pydantic model, which is also advertised."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

from pydantic import AliasChoices, AliasPath, BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError, to_json
from pydantic_core.core_schema import LiteralSchema

from sidecall.compiler.catch_all import CatchAll, make_catch_all
from sidecall.compiler.choices import choose_most_at_once
from sidecall.compiler.infinite_numbers import refuse_infinite, takes_numbers
from sidecall.compiler.json_args_schema import require_tags, shape_arguments, strip_titles
from sidecall.compiler.model_validator import ModelValidator
from sidecall.kernel.core.stepwise import MOST_CHOSEN, StepwiseValidator
from sidecall.kernel.core.tool import DEEPEST, MOST_VALUES, Parameter, Schema
from sidecall.kernel.schema.errors.reading import REPAIR
from sidecall.kernel.schema.errors.unknown_keys import find_unknown_keys
from sidecall.kernel.schema.references import inline_references, list_schemas

# Made once: json.dumps makes an encoder at every call.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


# Types whose values are their own form in JSON, but for some floats.
_PLAIN = frozenset((str, int, bool, float, type(None)))

JsonMode = Literal["always", "if said", "never"]
# How names that no field takes are found: by pydantic, in one go with the rest; by looking through the arguments, where
# some objects take any name; not at all, where all do.
UnknownMode = Literal["forbid", "walk", "take"]


@dataclass(frozen=True, slots=True)
class ModelArgsSchema:
    """The arguments of one tool, described and validated by a pydantic model.

    `json_schema` has no titles and no hidden fields, and keeps `$defs`; `flat` is the same with references resolved.
    `closed` decides on names: `flat` without names that only the model, not the function, takes. `fields` maps each
    field of the model to the function's parameter. `hidden` maps injected fields of the author's model to the names
    under which the model reads them; `reserved` are all names of those. `takes_numbers` says that a text may be read as
    a number without a JSON form. `catch_all` reads the arguments of `**kwargs`.
    """

    model: type[BaseModel]
    json_schema: Schema
    flat: Schema
    closed: Schema
    fields: Mapping[str, str]
    accepted: frozenset[str]
    hidden: Mapping[str, str]
    reserved: frozenset[str]
    drops_unknown: bool
    unknown: UnknownMode
    json_mode: JsonMode
    takes_numbers: bool
    guards: int = DEEPEST
    renamed: Mapping[str, str] = field(default_factory=dict)
    catch_all: CatchAll | None = None
    # What `_check` does for most models, without a look at how; None for the others.
    check_plainly: Callable[..., BaseModel] | None = None
    # How many values are validated without others having a turn.
    most_at_once: int = MOST_VALUES
    # What validates in place of the model itself; `steps` has it once it is made, for all copies.
    validator: Any = None
    steps: list[StepwiseValidator] = field(default_factory=list)

    def in_steps(self) -> "ModelArgsSchema":
        """Return a copy that validates in steps, between which other threads may run."""
        if not self.steps:
            self.steps.append(StepwiseValidator(self.model.__pydantic_core_schema__))
        return replace(self, validator=self.steps[0], check_plainly=None)

    def drop_unknown(self) -> "ModelArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return replace(self, guards=0)

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Rename values from parameter names to the model's argument names."""
        return {self.renamed.get(name, name): value for name, value in values.items()}

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Validate the arguments and return the values by parameter name, in the annotated types.

        Paths of repaired arguments are added to `repaired`, of dropped ones to `ignored`.

        Raises:
            InvalidArguments: One entry per mistake, without what was sent.
        """
        given = args
        checked: BaseModel
        if self.catch_all is not None:
            ignored += self.catch_all.find_forged(args)
            given = self.catch_all.unfold(args, repaired)
        if self.hidden:
            sent = (self._place_injected(name, injected[name]) for name in self.hidden.keys() & injected.keys())
            given = {**given, **dict(sent)}
        try:
            if self.check_plainly is not None:
                checked = self.check_plainly(given, extra="forbid")
                if self.takes_numbers:
                    refuse_infinite(given, checked, self.closed)
            else:
                checked = self._check(given)
        except ValidationError as error:
            checked = self._repair(given, error, repaired, ignored)
        found = checked.__dict__
        values = {}
        for name, parameter in self.fields.items():  # No comprehension, which is a function of its own until 3.12.
            values[parameter] = found[name]
        free = None if self.drops_unknown else checked.__pydantic_extra__
        return {**values, **free} if free else values

    def _repair(
        self, given: Mapping[str, Any], error: ValidationError, repaired: list[str], ignored: list[str]
    ) -> BaseModel:
        validator = ModelValidator(
            self._check, self._check_known, self.closed, self.hidden.values(), walks=self.unknown == "walk"
        )
        checked: BaseModel = REPAIR.mend(validator, given, validator.read(error, given), repaired, ignored, self.guards)
        return checked

    def _place_injected(self, field: str, value: Any) -> tuple[str, Any]:
        """Insert an injected value under the name that the model reads, which may be inside an object or array."""
        alias = self.model.model_fields[field].validation_alias
        first = alias.choices[0] if isinstance(alias, AliasChoices) else alias
        for step in reversed(first.path[1:] if isinstance(first, AliasPath) else []):
            value = {step: value} if isinstance(step, str) else [*[None] * step, value]
        return self.hidden[field], value

    def _check(self, given: Mapping[str, Any]) -> BaseModel:
        """Validate, refusing unknown names."""
        if self.unknown == "walk" and not find_unknown_keys(given, self.closed):
            return self._check_known(given)
        validator = self.validator or self.model.__pydantic_validator__
        text = None if self.json_mode == "never" else self._write_json(given)
        extra: Literal["forbid"] | None = None if self.unknown == "take" else "forbid"
        checked: BaseModel
        if text is None:
            checked = validator.validate_python(given, extra=extra)
        else:
            checked = validator.validate_json(text, extra=extra)
        if self.takes_numbers:
            refuse_infinite(given, checked, self.closed)
        return checked

    def _check_known(self, given: Mapping[str, Any]) -> BaseModel:
        """Validate, treating unknown names as the model itself does."""
        validator = self.validator or self.model.__pydantic_validator__
        text = None if self.json_mode == "never" else self._write_json(given)
        checked: BaseModel
        checked = validator.validate_python(given) if text is None else validator.validate_json(text)
        if self.takes_numbers:
            refuse_infinite(given, checked, self.closed)
        return checked

    def _write_json(self, given: Mapping[str, Any]) -> bytes | None:
        """Serialize the arguments back to JSON, in which a text can be a date and is no number.

        None if they hold Python objects, or injected values, which must not be copied.
        """
        try:
            if self.json_mode == "always":
                return to_json(given)
            return None if self.hidden else _encode(given).encode()
        except (TypeError, ValueError, RecursionError):
            return None


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
    shown = tuple(flat["properties"])
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
        most_at_once=_choose_most_at_once(core_schema, flat),
        catch_all=None if catch_all is None else make_catch_all(catch_all, accepted, forbidden, shown),
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

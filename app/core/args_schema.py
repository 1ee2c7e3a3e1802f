"""Hold what a tool accepts: one pydantic model that is both advertised and enforced."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import ErrorDetails, PydanticSerializationError, to_json

from app.core.errors import InvalidArguments
from app.core.explain import Loc, data_path, field_errors, without
from app.core.json_schema import Schema, inlined, without_titles
from app.core.repair import decoded_at


@dataclass(frozen=True, slots=True)
class ArgsSchema:
    """Say and check the arguments of one tool.

    `json_schema` has no titles and no hidden fields, and keeps `$defs`; `flat` is the same with references in place.
    `fields` maps each field of the model to the function's parameter. `hidden` maps the fields of the author's own
    model that are injected rather than sent to the names under which the model reads them; `reserved` are all names
    of those.
    """

    model: type[BaseModel]
    json_schema: Schema
    flat: Schema
    fields: Mapping[str, str]
    accepted: frozenset[str]
    hidden: Mapping[str, str]
    reserved: frozenset[str]
    extra: str
    json_mode: bool

    def unknown(self, args: Mapping[str, Any]) -> list[str]:
        """Name the arguments that no parameter takes and that would be dropped silently."""
        return [] if self.extra != "ignore" else [name for name in args if name not in self.accepted]

    def validate(self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str]) -> dict[str, Any]:
        """Check the arguments and return the values by parameter name, as the annotated types.

        Text where an object or an array is wanted is parsed and noted in `repaired`.

        Raises:
            InvalidArguments: One entry per offending field, without what was sent.
        """
        given = dict(args)
        for name in self.hidden.keys() & injected.keys():
            given[self.hidden[name]] = injected[name]
        try:
            checked = self._check(given)
        except ValidationError as error:
            checked = self._check_again(given, error, repaired)
        values = {parameter: checked.__dict__[field] for field, parameter in self.fields.items()}
        return values | (checked.__pydantic_extra__ or {})

    def _check(self, given: Mapping[str, Any]) -> BaseModel:
        validator = self.model.__pydantic_validator__
        checked: BaseModel
        if self.json_mode:
            try:
                checked = validator.validate_json(to_json(given))
                return checked
            except PydanticSerializationError:
                pass  # An injected object that JSON cannot say.
        checked = validator.validate_python(given)
        return checked

    def _check_again(self, given: Mapping[str, Any], error: ValidationError, repaired: list[str]) -> BaseModel:
        """Check once more with what models often do read as they mean it.

        Null is "not given" where an optional field refuses it, since strict schemas make models send it; JSON text is
        what it says where an object or an array is wanted.
        """
        refused: dict[Loc, ErrorDetails] = {}
        mended: Any = given
        for detail in error.errors():
            path = data_path(given, detail["loc"])
            if detail["input"] is None:
                refused[path] = detail
                mended = without(mended, path)
            elif detail["type"] in _WANT_CONTAINER:
                mended = decoded_at(mended, path, repaired)
        if mended is not given:
            try:
                return self._check(mended)
            except ValidationError as second:
                error = second
        details = [_original(detail, refused) for detail in error.errors(include_url=False)]
        raise InvalidArguments(field_errors(details, self.flat), error) from None


# The errors of fields that want a JSON object or array.
_WANT_CONTAINER = frozenset(
    "dict_type mapping_type model_type model_attributes_type dataclass_type typed_dict_type list_type tuple_type"
    " set_type frozen_set_type iterable_type".split()
)


def _original(detail: ErrorDetails, refused: Mapping[Loc, ErrorDetails]) -> ErrorDetails:
    """Blame a null for being null, not for being left out."""
    return refused.get(detail["loc"], detail) if detail["type"] == "missing" else detail


class _Generator(GenerateJsonSchema):
    """Leave unserialisable defaults out without a warning on the author's terminal."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  pydantic's

    def encode_default(self, dft: Any) -> Any:
        """Leave infinity and NaN out, for which JSON has no number."""
        value = super().encode_default(dft)
        if isinstance(value, float) and not math.isfinite(value):
            raise PydanticSerializationError("JSON has no such number")
        return value


def schema_of(model: type[BaseModel], hidden: frozenset[str]) -> Schema:
    """Render a model's JSON Schema as the tools of this server advertise it.

    Raises:
        PydanticInvalidForJsonSchema: A field's type cannot be said in JSON Schema.
    """
    schema = without_titles(model.model_json_schema(by_alias=True, schema_generator=_Generator))
    if "$ref" in schema:
        # A model that contains itself is a bare reference at the root, where every provider wants an object.
        schema = {**schema["$defs"][schema["$ref"].removeprefix("#/$defs/")], "$defs": schema["$defs"]}
    schema.pop("description", None)
    properties = {name: value for name, value in schema.get("properties", {}).items() if name not in hidden}
    required = [name for name in schema.get("required", []) if name not in hidden]
    rest = {key: value for key, value in schema.items() if key not in ("type", "properties", "required")}
    return {"type": "object", "properties": properties, **({"required": required} if required else {}), **rest}


def make_args_schema(model: type[BaseModel], fields: Mapping[str, str], hidden: frozenset[str]) -> ArgsSchema:
    """Compile a model, so that nothing is left to be worked out when a call arrives."""
    names = {name: _names(model, name) for name in model.model_fields}
    reserved = frozenset(name for field in hidden for name in (field, *names[field]))
    json_schema = schema_of(model, reserved)
    accepted = frozenset(name for field in model.model_fields if field not in hidden for name in names[field])
    return ArgsSchema(
        model=model,
        json_schema=json_schema,
        flat=inlined(json_schema),
        fields=dict(fields),
        accepted=accepted,
        hidden={field: names[field][0] for field in hidden},
        reserved=reserved,
        extra=model.model_config.get("extra") or "ignore",
        # Arguments come from JSON, where a date can only be text: a strict field must not hold that against them.
        json_mode="'strict': True" in repr(model.__pydantic_core_schema__),
    )


def _names(model: type[BaseModel], name: str) -> list[str]:
    """List the names under which a field is read, the advertised one first."""
    config = model.model_config
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    aliases = _aliases(model.model_fields[name])
    return [*aliases, name] if by_name or not aliases else aliases


def _aliases(field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    choices = getattr(alias, "choices", None) or [alias]
    return [choice if isinstance(choice, str) else str(choice.path[0]) for choice in choices if choice is not None]

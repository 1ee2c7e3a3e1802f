"""Validate arguments with a model of pydantic 1."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, to_jsonable_python

from sidecall.compiler.choices import choose_most_at_once
from sidecall.compiler.json_args_schema import shape_arguments, strip_titles
from sidecall.kernel.core.errors import InvalidArguments, SchemaInferenceError
from sidecall.kernel.core.incremental_validation import MOST_CHOSEN
from sidecall.kernel.core.tool import DEEPEST, Schema
from sidecall.kernel.schema.errors.reading import REPAIR
from sidecall.kernel.schema.infinite_numbers import refuse_infinite
from sidecall.kernel.schema.model_validator import ModelValidator
from sidecall.kernel.schema.references import inline_references, map_children


@dataclass(frozen=True, slots=True)
class V1ArgsSchema:
    """The arguments of one tool, described and validated by a model of pydantic 1."""

    model: Any
    json_schema: Schema
    flat: Schema
    closed: Schema
    accepted: frozenset[str]
    hidden: Mapping[str, str]
    reserved: frozenset[str]
    drops_unknown: bool
    guards: int = DEEPEST
    # How many values are validated without others having a turn.
    most_at_once: int = MOST_CHOSEN

    def in_steps(self) -> "V1ArgsSchema":
        """Return a copy that validates in steps, between which other threads may run."""
        return self  # It is written in Python, where others have their turns

    def drop_unknown(self) -> "V1ArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return replace(self, guards=0)

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Rename values from field names to the model's argument names."""
        fields = self.model.__fields__
        names = {name: field.alias for name, field in fields.items() if name not in self.accepted}
        return {names.get(name, name): value for name, value in values.items()}

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Validate the arguments and return the values by field name, as the model makes them.

        Paths of repaired arguments are added to `repaired`, of dropped ones to `ignored`.

        Raises:
            InvalidArguments: One entry per mistake; its original is pydantic 1's ValidationError.
        """
        given = dict(args)
        for name in self.hidden.keys() & injected.keys():
            given[self.hidden[name]] = injected[name]
        try:
            checked = self._check(given)
        except ValidationError as error:
            checked = self._mend(given, error, repaired, ignored)
        values = checked.__dict__
        return {name: values[name] for name in values if name in self.model.__fields__ or not self.drops_unknown}

    def _mend(self, given: Mapping[str, Any], error: ValidationError, repaired: list[str], ignored: list[str]) -> Any:
        validator = ModelValidator(self._check, self._check_known, self.closed, self.hidden.values())
        try:
            return REPAIR.mend(validator, given, validator.read(error, given), repaired, ignored, self.guards)
        except InvalidArguments as failure:
            original: Any = failure.original and failure.original.__cause__
            raise InvalidArguments(failure.errors, lambda: original) from original

    def _check(self, given: Mapping[str, Any]) -> Any:
        """Validate, refusing unknown names; only top-level ones can be found."""
        unknown = self.drops_unknown and given.keys() - self.accepted - set(self.hidden.values())
        if unknown:
            errors = [InitErrorDetails(type="extra_forbidden", loc=(name,), input=given[name]) for name in unknown]
            raise ValidationError.from_exception_data(self.model.__name__, errors)
        return self._check_known(given)

    def _check_known(self, given: Mapping[str, Any]) -> Any:
        checked = check_by_v1(self.model, given)
        refuse_infinite(given, checked, self.closed)
        return checked


def make_v1_args_schema(where: str, model: Any, hidden: frozenset[str], *, drops_unknown: bool) -> V1ArgsSchema:
    """Compile a model of pydantic 1.

    Args:
        where: The tool's name and file, for errors.
        model: The model.
        hidden: Its fields that are injected.
        drops_unknown: Whether what the model does not know is left out.

    Raises:
        SchemaInferenceError: A field cannot be said in JSON Schema.
    """
    names = {name: _list_names(model, name) for name in model.__fields__}
    reserved = frozenset(name for field in hidden for name in (field, *names[field]))
    try:
        json_schema = shape_arguments(render_v1_schema(model), reserved)
    except (ValueError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise SchemaInferenceError(f"{where}: args_schema {model.__name__}: {reason}") from error
    visible = [name for name in names if name not in hidden]
    unsaid = [name for name in visible if names[name][0] not in json_schema["properties"]]
    if unsaid:
        reason = f"`{unsaid[0]}` cannot be said in JSON Schema"
        raise SchemaInferenceError(f"{where}: args_schema {model.__name__}: {reason}.")
    flat = inline_references(json_schema)
    return V1ArgsSchema(
        model=model,
        json_schema=json_schema,
        flat=flat,
        most_at_once=choose_most_at_once(flat, MOST_CHOSEN),
        closed={key: flat[key] for key in flat if key != "additionalProperties"} if drops_unknown else flat,
        accepted=frozenset(name for field in visible for name in names[field]),
        hidden={field: names[field][0] for field in hidden},
        reserved=reserved,
        drops_unknown=drops_unknown,
    )


def _list_names(model: Any, name: str) -> list[str]:
    """List the names of a field, the advertised one first."""
    alias = model.__fields__[name].alias
    by_name = alias != name and model.__config__.allow_population_by_field_name
    return [alias, name] if by_name else [alias]


def check_by_v1(model: Any, given: Any) -> Any:
    """Validate values with a model of pydantic 1.

    Raises:
        ValidationError: One of pydantic 2, caused by the model's own.
    """
    if isinstance(given, model):
        return given
    if not isinstance(given, Mapping):
        # The model itself would take a list of pairs for an object.
        raise ValidationError.from_exception_data(model.__name__, [{"type": "dict_type", "loc": (), "input": given}])
    try:
        return model.parse_obj(given)
    except ValueError as error:
        raise _translate_error(model, error, given) from error


def _translate_error(model: Any, error: Any, given: Any) -> ValidationError:
    return ValidationError.from_exception_data(model.__name__, [_translate(detail, given) for detail in error.errors()])


def _translate(detail: Mapping[str, Any], given: Any) -> InitErrorDetails:
    # What concerns the model as a whole stands at the place of the model.
    loc = tuple(step for step in detail["loc"] if step != "__root__")
    sent = _find_value(given, loc)
    context = detail.get("ctx", {})
    known = _KNOWN.get(detail["type"])
    if known is None:
        kind, text = _format_unknown(detail, context, sent)
        return {"type": PydanticCustomError(kind, text), "loc": loc, "input": sent}
    kind, said = known(context, sent)
    return {"type": kind, "loc": loc, "input": sent, "ctx": said}


def _find_value(given: Any, loc: Sequence[Any]) -> Any:
    """Return the sent value at a location; for a missing one, the object that lacks it."""
    for step in loc:
        try:
            given = given[step]
        except (KeyError, IndexError, TypeError):
            return given
    return given


_Translation = Callable[[Mapping[str, Any], Any], tuple[str, dict[str, Any]]]


def _to_plain(kind: str) -> _Translation:
    return lambda _context, _sent: (kind, {})


def _to_text_error(name: str) -> _Translation:
    """Choose between the errors for an unparsable text and for a value of another type."""
    return lambda _context, sent: (f"{name}_parsing" if isinstance(sent, str) else f"{name}_type", {})


def _to_bound(kind: str, name: str, source: str = "limit_value") -> _Translation:
    return lambda context, _sent: (kind, {name: context[source]})


def _to_choice(kind: str, source: str) -> _Translation:
    return lambda context, _sent: (kind, {"expected": _join_choices(context[source])})


def _join_choices(values: Sequence[Any]) -> str:
    *first, last = [repr(getattr(value, "value", value)) for value in values]
    return f"{', '.join(first)} or {last}" if first else last


def _report_missing_tag(context: Mapping[str, Any], _sent: Any) -> tuple[str, dict[str, Any]]:
    return "union_tag_not_found", {"discriminator": repr(context["discriminator_key"])}


def _report_wrong_tag(context: Mapping[str, Any], _sent: Any) -> tuple[str, dict[str, Any]]:
    said = {"discriminator": repr(context["discriminator_key"]), "expected_tags": context["allowed_values"]}
    return "union_tag_invalid", {**said, "tag": ""}


_KNOWN: Mapping[str, _Translation] = {
    "value_error.missing": _to_plain("missing"),
    "value_error.extra": _to_plain("extra_forbidden"),
    "type_error.integer": _to_text_error("int"),
    "type_error.float": _to_text_error("float"),
    "type_error.bool": _to_text_error("bool"),
    "type_error.str": _to_plain("string_type"),
    "type_error.bytes": _to_plain("bytes_type"),
    "type_error.dict": _to_plain("dict_type"),
    "type_error.list": _to_plain("list_type"),
    "type_error.tuple": _to_plain("tuple_type"),
    "type_error.set": _to_plain("set_type"),
    "type_error.frozenset": _to_plain("frozen_set_type"),
    "type_error.enum": _to_choice("enum", "enum_values"),
    "type_error.uuid": lambda _context, _sent: ("uuid_parsing", {"error": "not a UUID"}),
    "value_error.const": _to_choice("literal_error", "permitted"),
    "value_error.number.not_gt": _to_bound("greater_than", "gt"),
    "value_error.number.not_ge": _to_bound("greater_than_equal", "ge"),
    "value_error.number.not_lt": _to_bound("less_than", "lt"),
    "value_error.number.not_le": _to_bound("less_than_equal", "le"),
    "value_error.number.not_multiple": _to_bound("multiple_of", "multiple_of", "multiple_of"),
    "value_error.any_str.min_length": _to_bound("string_too_short", "min_length"),
    "value_error.any_str.max_length": _to_bound("string_too_long", "max_length"),
    "value_error.str.regex": _to_bound("string_pattern_mismatch", "pattern", "pattern"),
    "value_error.discriminated_union.missing_discriminator": _report_missing_tag,
    "value_error.discriminated_union.invalid_discriminator": _report_wrong_tag,
}
# What an author's validator raises, and how pydantic 2 says it; the words are the author's.
_RAISED = {"value_error": "Value error, ", "assertion_error": "Assertion failed, ", "type_error": "Type error, "}


def _format_unknown(detail: Mapping[str, Any], context: Mapping[str, Any], sent: Any) -> tuple[Any, Any]:
    """Format an error unknown to pydantic 2, without the sent value, which may be a secret."""
    kind, text = detail["type"], detail["msg"]
    if kind in _RAISED:
        return kind, _RAISED[kind] + text
    pieces = [str(value) for value in context.values() if not isinstance(value, (int, float))]
    is_quoting = isinstance(sent, str) and any(piece and (piece in sent or sent in piece) for piece in pieces)
    return kind, "Input is not valid" if is_quoting else text[:1].upper() + text[1:]


def render_v1_schema(model: Any) -> Schema:
    """Render the JSON Schema of a pydantic 1 model, without titles.

    Raises:
        ValueError: A field's type cannot be said in JSON Schema.
        TypeError: A field's default cannot be said in JSON.
    """
    with warnings.catch_warnings():
        # A field that takes a function is left out with a warning; whether that matters, the caller knows.
        warnings.simplefilter("ignore", UserWarning)
        schema: Schema = to_jsonable_python(model.schema(ref_template="#/$defs/{model}"))
    definitions = {"$defs": schema["definitions"]} if "definitions" in schema else {}
    rest = {key: value for key, value in schema.items() if key != "definitions"}
    return _modernize(strip_titles({**rest, **definitions}))


def _modernize(node: Schema) -> Schema:
    if len(parts := node.get("allOf", ())) == 1:
        # How pydantic 1 adds a description or a default to a reference.
        node = {**parts[0], **{key: value for key, value in node.items() if key != "allOf"}}
    if isinstance(node.get("items"), list):
        node = {("prefixItems" if key == "items" else key): value for key, value in node.items()}
    default = node.get("default")
    if isinstance(default, float) and not math.isfinite(default):
        node = {key: value for key, value in node.items() if key != "default"}
    return map_children(node, _modernize)

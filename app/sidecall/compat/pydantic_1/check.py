"""Validate with a model of pydantic 1, and translate its errors to pydantic 2's."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError


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

"""Check values by a model of pydantic 1, and say its errors as those of pydantic 2, so that one place words them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError


def check_by_v1(model: Any, given: Any) -> Any:
    """Make an instance of a model of pydantic 1.

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
        raise _as_pydantic_2(model, error, given) from error


def _as_pydantic_2(model: Any, error: Any, given: Any) -> ValidationError:
    return ValidationError.from_exception_data(model.__name__, [_line(detail, given) for detail in error.errors()])


def _line(detail: Mapping[str, Any], given: Any) -> InitErrorDetails:
    # What concerns the model as a whole stands at the place of the model.
    loc = tuple(step for step in detail["loc"] if step != "__root__")
    sent = _value_at(given, loc)
    context = detail.get("ctx", {})
    known = _KNOWN.get(detail["type"])
    if known is None:
        kind, text = _own_words(detail, context, sent)
        return {"type": PydanticCustomError(kind, text), "loc": loc, "input": sent}
    kind, said = known(context, sent)
    return {"type": kind, "loc": loc, "input": sent, "ctx": said}


def _value_at(given: Any, loc: Sequence[Any]) -> Any:
    """Find what was sent at a place; of what is missing, the object that lacks it."""
    for step in loc:
        try:
            given = given[step]
        except (KeyError, IndexError, TypeError):
            return given
    return given


_Known = Callable[[Mapping[str, Any], Any], tuple[str, dict[str, Any]]]


def _plain(kind: str) -> _Known:
    return lambda _context, _sent: (kind, {})


def _of_text(name: str) -> _Known:
    """Choose between a text that cannot be parsed and a value of another type."""
    return lambda _context, sent: (f"{name}_parsing" if isinstance(sent, str) else f"{name}_type", {})


def _bound(kind: str, name: str, source: str = "limit_value") -> _Known:
    return lambda context, _sent: (kind, {name: context[source]})


def _one_of(kind: str, source: str) -> _Known:
    return lambda context, _sent: (kind, {"expected": _listed(context[source])})


def _listed(values: Sequence[Any]) -> str:
    *first, last = [repr(getattr(value, "value", value)) for value in values]
    return f"{', '.join(first)} or {last}" if first else last


def _tag_not_found(context: Mapping[str, Any], _sent: Any) -> tuple[str, dict[str, Any]]:
    return "union_tag_not_found", {"discriminator": repr(context["discriminator_key"])}


def _tag_invalid(context: Mapping[str, Any], _sent: Any) -> tuple[str, dict[str, Any]]:
    said = {"discriminator": repr(context["discriminator_key"]), "expected_tags": context["allowed_values"]}
    return "union_tag_invalid", {**said, "tag": ""}


_KNOWN: Mapping[str, _Known] = {
    "value_error.missing": _plain("missing"),
    "value_error.extra": _plain("extra_forbidden"),
    "type_error.integer": _of_text("int"),
    "type_error.float": _of_text("float"),
    "type_error.bool": _of_text("bool"),
    "type_error.str": _plain("string_type"),
    "type_error.bytes": _plain("bytes_type"),
    "type_error.dict": _plain("dict_type"),
    "type_error.list": _plain("list_type"),
    "type_error.tuple": _plain("tuple_type"),
    "type_error.set": _plain("set_type"),
    "type_error.frozenset": _plain("frozen_set_type"),
    "type_error.enum": _one_of("enum", "enum_values"),
    "type_error.uuid": lambda _context, _sent: ("uuid_parsing", {"error": "not a UUID"}),
    "value_error.const": _one_of("literal_error", "permitted"),
    "value_error.number.not_gt": _bound("greater_than", "gt"),
    "value_error.number.not_ge": _bound("greater_than_equal", "ge"),
    "value_error.number.not_lt": _bound("less_than", "lt"),
    "value_error.number.not_le": _bound("less_than_equal", "le"),
    "value_error.number.not_multiple": _bound("multiple_of", "multiple_of", "multiple_of"),
    "value_error.any_str.min_length": _bound("string_too_short", "min_length"),
    "value_error.any_str.max_length": _bound("string_too_long", "max_length"),
    "value_error.str.regex": _bound("string_pattern_mismatch", "pattern", "pattern"),
    "value_error.discriminated_union.missing_discriminator": _tag_not_found,
    "value_error.discriminated_union.invalid_discriminator": _tag_invalid,
}
# What an author's validator raises, and how pydantic 2 says it; the words are the author's.
_RAISED = {"value_error": "Value error, ", "assertion_error": "Assertion failed, ", "type_error": "Type error, "}


def _own_words(detail: Mapping[str, Any], context: Mapping[str, Any], sent: Any) -> tuple[Any, Any]:
    """Word what pydantic 2 has no word for, without a piece of what was sent, which may be a secret."""
    kind, text = detail["type"], detail["msg"]
    if kind in _RAISED:
        return kind, _RAISED[kind] + text
    pieces = [str(value) for value in context.values() if not isinstance(value, (int, float))]
    is_quoting = isinstance(sent, str) and any(piece and (piece in sent or sent in piece) for piece in pieces)
    return kind, "Input is not valid" if is_quoting else text[:1].upper() + text[1:]

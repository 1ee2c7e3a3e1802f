"""Mend what models often get wrong in the form of their arguments, and say so."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sidecall.core.errors import MOST_FIELDS, InvalidArguments
from sidecall.core.json_text import name_json_type, parse_json
from sidecall.core.pointer import format_path
from sidecall.core.tool import Schema
from sidecall.schema.explain import list_details, make_field_errors
from sidecall.schema.paths import Loc, drop_member, is_free, reduce_to_data, replace_member

Checked = TypeVar("Checked")

_FENCE = "```"


def parse_arguments(text: str, repaired: list[str]) -> Any:
    """Parse the JSON text of arguments, out of a Markdown fence or a second encoding if need be.

    Args:
        text: What the model wrote.
        repaired: Where each mend is noted.

    Raises:
        ValueError: It is not JSON even so.
    """
    inside = _strip_fence(text)
    if inside is not None:
        repaired.append("arguments: taken out of a Markdown fence")
        text = inside
    value = parse_json(text.encode())
    inner = _parse_container(value)
    if inner is not value:
        repaired.append("arguments: JSON text inside JSON text")
    return inner


def _strip_fence(text: str) -> str | None:
    # Not with a regular expression, which would take hours for megabytes of line breaks.
    block = text.strip()
    if not block.startswith(_FENCE) or not block.endswith(_FENCE):
        return None
    language, line_break, inside = block[len(_FENCE) : -len(_FENCE)].partition("\n")
    return inside if line_break and language.strip() in ("", "json", "JSON") else None


def decode_at(data: Any, path: Loc, repaired: list[str]) -> Any:
    """Copy JSON data with the text at this path parsed, if it is the JSON text of an object or an array.

    Models write nested objects as text where they should write them out.
    """
    value = data
    for step in path:
        value = value[step]
    inner = _parse_container(value)
    if inner is value:
        return data
    repaired.append(f"{format_path(path)}: JSON text instead of {name_json_type(inner)}")
    return replace_member(data, path, inner)


def _parse_container(text: Any) -> Any:
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_json(text.encode())
    except ValueError:
        return text


def check_and_mend(
    check: Callable[[Mapping[str, Any]], Checked], given: Mapping[str, Any], schema: Schema, repaired: list[str]
) -> Checked:
    """Check arguments, and once more with what models often do read as they mean it, if that is needed.

    Null is "not given" where an optional field refuses it, since strict schemas make models send it; an entry of an
    object with free keys is no field. JSON text is what it says where an object or an array is wanted, which is noted
    in `repaired`.

    Raises:
        InvalidArguments: They do not fit even so: one entry per offending field, worded with the schema.
    """
    try:
        return check(given)
    except ValidationError as error:
        return _check_again(check, given, error, schema, repaired)


def _check_again(
    check: Callable[[Mapping[str, Any]], Checked],
    given: Mapping[str, Any],
    error: ValidationError,
    schema: Schema,
    repaired: list[str],
) -> Checked:
    if error.error_count() > MOST_FIELDS:  # Each mend copies all there is.
        raise InvalidArguments(make_field_errors(list_details(error), schema), error) from None
    refused: dict[Loc, ErrorDetails] = {}
    mended: Any = given
    for detail in error.errors():
        path = reduce_to_data(given, detail["loc"])
        if detail["input"] is None and path and not is_free(schema, path):
            refused[path] = detail
            mended = drop_member(mended, path)
        elif detail["type"] in _WANT_CONTAINER:
            mended = decode_at(mended, path, repaired)
    if mended is not given:
        try:
            return check(mended)
        except ValidationError as second:
            error = second
    details = [_blame_null(detail, refused) for detail in list_details(error)]
    raise InvalidArguments(make_field_errors(details, schema), error) from None


# The errors of fields that want a JSON object or array.
_WANT_CONTAINER = frozenset(
    "dict_type mapping_type model_type model_attributes_type dataclass_type typed_dict_type list_type tuple_type"
    " set_type frozen_set_type iterable_type".split()
)


def _blame_null(detail: ErrorDetails, refused: Mapping[Loc, ErrorDetails]) -> ErrorDetails:
    """Blame a null for being null, not for being left out."""
    return refused.get(detail["loc"], detail) if detail["type"] == "missing" else detail

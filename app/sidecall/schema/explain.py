"""Explain to a model which arguments it has to mend, without repeating what it sent."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic_core import ErrorDetails, ValidationError

from sidecall.core.collector import pause_collector
from sidecall.core.errors import MOST_FIELDS, FieldError
from sidecall.core.tool import Schema
from sidecall.schema.describe import describe
from sidecall.schema.paths import find_schema

# Messages of pydantic that would speak of Python, or repeat a piece of what was sent, which may be a secret.
_MESSAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "dict_type": lambda _: "Input should be a JSON object",
    "model_type": lambda _: "Input should be a JSON object",
    "model_attributes_type": lambda _: "Input should be a JSON object",
    "dataclass_type": lambda _: "Input should be a JSON object",
    "path_type": lambda _: "Input should be a path",
    "zoneinfo_str": lambda _: "Input should be a valid time zone",
    "union_tag_invalid": lambda ctx: f"Field {ctx['discriminator']} must be one of {ctx['expected_tags']}",
    "uuid_parsing": lambda _: "Input should be a valid UUID",
    "url_parsing": lambda _: "Input should be a valid URL",
    "byte_size_unit": lambda _: "Input should be a number of bytes, or one with a unit such as KB or MiB",
}
# pydantic lists all its errors or none, and a hundred thousand take it 0.2 s.
_MOST_LISTED = 10_000
# Where custom types put what was sent; authors' own ValueErrors are theirs to word.
_QUOTING = ("value", "tag", "input_value")


def explain(detail: ErrorDetails) -> str:
    """Word one validation error; `detail` has to include the input."""
    context = detail.get("ctx", {})
    if detail["type"] in _MESSAGES:
        return _MESSAGES[detail["type"]](context)
    quoted = [context[key] for key in _QUOTING if key in context]
    return "Input is not valid" if detail["input"] in quoted else detail["msg"]


def list_details(error: ValidationError) -> list[ErrorDetails]:
    """List as many details as are told, and one more where there are more."""
    count = error.error_count()
    if count > _MOST_LISTED:
        return [{"type": "too_many_errors", "loc": (), "msg": f"{count:,} values do not fit", "input": None}]
    with pause_collector():
        return error.errors(include_url=False)[: MOST_FIELDS + 1]


def make_field_errors(details: Sequence[ErrorDetails], schema: Schema) -> list[FieldError]:
    """Make one entry per error: the path, the rule, and what is allowed there."""
    return [_make_field_error(detail, schema) for detail in details]


def _make_field_error(detail: ErrorDetails, schema: Schema) -> FieldError:
    loc = list(detail["loc"])
    kind = detail["type"]
    message = explain(detail)
    if kind == "missing":
        wanted = find_schema(schema, loc)
        message = f"{message} ({describe(wanted)})" if wanted is not None else message
    elif kind == "extra_forbidden":
        message = explain_unknown_argument(find_schema(schema, loc[:-1]))
    return {"loc": loc, "type": kind, "msg": message}


def explain_unknown_argument(parent: Schema | None) -> str:
    """List the arguments that an object takes, for a model that sent another."""
    known = ", ".join(sorted((parent or {}).get("properties", {}))) or "none"
    return f"There is no such argument; the arguments are: {known}"

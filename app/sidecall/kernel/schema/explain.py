"""Explain to a model which arguments to fix, without repeating what it sent."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic_core import ErrorDetails, ValidationError

from sidecall.kernel.core.field_errors import MOST_FIELDS, FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.text import pause_collector
from sidecall.kernel.schema.describe import count, describe
from sidecall.kernel.schema.errors.entries import (
    list_members,
    make_invalid,
    make_key,
    make_missing,
    make_unknown,
    say_wanted,
)
from sidecall.kernel.schema.errors.fitting import has_fitting_type
from sidecall.kernel.schema.errors.validation_errors import ABSENT, Site, ValidationErrors, find_inner, locate
from sidecall.kernel.schema.whole_numbers import OF_KEYS

# Messages of pydantic that would speak of Python, or repeat a piece of what was sent, which may be a secret.
_MESSAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "dict_type": lambda _: "Input should be a JSON object",
    "model_type": lambda _: "Input should be a JSON object",
    "model_attributes_type": lambda _: "Input should be a JSON object",
    "dataclass_type": lambda _: "Input should be a JSON object",
    "path_type": lambda _: "Input should be a path",
    "zoneinfo_str": lambda _: "Input should be a valid time zone, such as Europe/Berlin",
    "union_tag_invalid": lambda ctx: f"Field {ctx['discriminator']} must be one of {ctx['expected_tags']}",
    "uuid_parsing": lambda _: "Input should be a valid UUID",
    "url_parsing": lambda _: "Input should be a valid URL",
    "decimal_max_digits": lambda ctx: f"Input should have no more than {count(ctx['max_digits'], 'digit')}",
    "decimal_max_places": lambda ctx: f"Input should have no more than {count(ctx['decimal_places'], 'decimal place')}",
    "complex_type": lambda _: "Input should be a complex number, such as 1+2j",
    "complex_str_parsing": lambda _: "Input should be a complex number, such as 1+2j",
    "decimal_whole_digits": lambda ctx: f"Input should have no more than {ctx['whole_digits']} digits before the point",
    "byte_size_unit": lambda _: "Input should be a number of bytes, or one with a unit such as KB or MiB",
}
# pydantic lists all its errors or none, and a hundred thousand take it 0.2 s.
_MOST_LISTED = 10_000
_TOO_MANY = "too_many_errors"
# Where custom types put what was sent; authors' own ValueErrors are theirs to word.
_QUOTING = ("value", "tag", "input_value")
# What authors' validators raise, and how pydantic begins to say so.
_RAISED = {"value_error": "Value error, ", "assertion_error": "Assertion failed, ", "type_error": "Type error, "}
# Rules that the schema says, and says in the words of JSON.
_IN_SCHEMA = frozenset(
    "int_from_float literal_error enum greater_than greater_than_equal less_than less_than_equal multiple_of too_short"
    " too_long string_too_short string_too_long string_pattern_mismatch model_attributes_type bytes_too_short"
    " bytes_too_long date_from_datetime_inexact missing_sentinel_error int_parsing_size".split()
)
# What is said of a name in a member of a union, and would be wrong of the union.
_INSIDE = ABSENT | {"extra_forbidden", "unexpected_keyword_argument"}
# Which alphabet it was the schema says, and not the message.
_ENCODED = frozenset(("base64_decode", "bytes_invalid_encoding"))
_OF_PYTHON = re.compile(
    r"\b(None|True|False|dict|dictionary|[Tt]uple|List|Set|set|[Ff]rozen\w*|instance|callable|[Ii]terable|[Mm]apping"
    r"|class|Decimal|datetime object|bytes|generator|subclass)\b|<"
)


def explain(detail: ErrorDetails) -> str:
    """Format one validation error; `detail` must include the input."""
    context = detail.get("ctx", {})
    if detail["type"] in _MESSAGES:
        return _MESSAGES[detail["type"]](context)
    quoted = [context[key] for key in _QUOTING if key in context]
    text = detail["msg"].removeprefix(_RAISED.get(detail["type"], ""))
    return "Input is not valid" if detail["input"] in quoted else text


def list_details(error: ValidationError) -> list[ErrorDetails]:
    """List up to the maximum number of details, and one more if there are more."""
    count = error.error_count()
    if count > _MOST_LISTED:
        return [{"type": _TOO_MANY, "loc": (), "msg": f"{count:,} values do not fit", "input": None}]
    if count <= MOST_FIELDS:
        return error.errors(include_url=False)
    with pause_collector():
        return error.errors(include_url=False)[: MOST_FIELDS + 1]


def make_field_errors(details: Sequence[ErrorDetails], schema: Schema, data: Any) -> list[FieldError]:
    """Make one entry per error: path, rule, and what is allowed there."""
    return format_errors([(detail, locate(detail["loc"], detail["type"], data, schema)) for detail in details], schema)


def format_errors(found: Sequence[tuple[ErrorDetails, Site]], schema: Schema) -> list[FieldError]:
    """Make one entry per error with a known place."""
    entries: list[FieldError] = []
    unions: set[tuple[str | int, ...]] = set()
    for detail, site in found:
        if not site.in_union:
            entries.append(_make_entry(detail, site, schema))
        elif site.path not in unions:
            unions.add(site.path)
            alike = [other for other, place in found if place.in_union and place.path == site.path]
            entries += _explain_union(alike, site, schema)
    return entries


def _explain_union(details: Sequence[ErrorDetails], site: Site, root: Schema) -> Iterator[FieldError]:
    """Explain why no member of a union fits, by the schema or else by the members' errors."""
    infinite = next((it for it in details if it["type"] == "finite_number"), None)
    if infinite is not None:
        yield _make_entry(infinite, site, root)
        return
    decimal = _explain_decimal([it["type"] for it in details], site, root)
    found = ValidationErrors(root).find(site.value, site.node, site.path) if decimal is None else [decimal]
    if found:
        yield from found
        return
    own = next((it for it in details if it["type"] in _RAISED), details[0])
    if own["type"] in _INSIDE and site.node is not None:
        yield make_invalid(site.path, "union", site.node, root, site.value)
    else:
        yield _make_entry(own, site, root)


def _explain_decimal(kinds: Sequence[str], site: Site, root: Schema) -> FieldError | None:
    """Explain an invalid decimal, which the schema calls a number or string; None for other types."""
    if _NO_DECIMAL.isdisjoint(kinds) or "string_type" in kinds or site.node is None:
        return None
    options = [it for it in list_members(site.node, root) if it.get("type") != "string" or it.keys() & _OF_TEXTS]
    if isinstance(site.value, dict | list) and any(has_fitting_type(site.value, it) for it in options):
        return None
    words = [_describe_decimal(it) if it.get("type") == "number" else describe(it) for it in options]
    wanted = " or ".join(dict.fromkeys(words))
    return {"loc": list(site.path), "type": kinds[0], "msg": say_wanted(wanted), "expected": wanted}


_NO_DECIMAL = frozenset(("decimal_parsing", "decimal_type"))
# A text that says what it has to be is no other form of a number.
_OF_TEXTS = frozenset(("enum", "const", "format"))


def _describe_decimal(number: Schema) -> str:
    return f"decimal {describe(number)}, such as 12.50"


# What a key is read as, by the first word of pydantic's rules.
_KEYS: dict[str, Schema] = {
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "decimal": {"type": "number"},
    "finite": {"type": "finite number"},
    "bool": {"type": "boolean"},
    **{
        kind: {"type": "string", "format": form}
        for kind, form in {
            "date": "date",
            "datetime": "date-time",
            "time": "time",
            "timedelta": "duration",
            "uuid": "uuid",
            "url": "uri",
        }.items()
    },
}
# The keyword of JSON Schema for pydantic's rules with a number or a pattern, and where pydantic keeps that.
_BOUNDS = {
    "greater_than": ("exclusiveMinimum", "gt"),
    "greater_than_equal": ("minimum", "ge"),
    "less_than": ("exclusiveMaximum", "lt"),
    "less_than_equal": ("maximum", "le"),
    "multiple_of": ("multipleOf", "multiple_of"),
    "string_too_short": ("minLength", "min_length"),
    "string_too_long": ("maxLength", "max_length"),
    "string_pattern_mismatch": ("pattern", "pattern"),
}


_WANTED, _WANTED_KEY = "the key: Input should be ", "the key has to be "


def _make_key_entry(detail: ErrorDetails, site: Site) -> FieldError:
    """Format the error of an object's key; its schema describes keys only if they are strings."""
    kind, node = detail["type"], site.node or {}
    keyword, place = _BOUNDS.get(kind, ("", ""))
    if kind in _RAISED or not (keyword or len(node) > 1 or kind.partition("_")[0] in _KEYS):
        text = _clean(explain(detail), "Input should be another one")
        return {"loc": list(site.path), "type": kind, "msg": f"the key: {text}".replace(_WANTED, _WANTED_KEY)}
    said = {keyword: detail.get("ctx", {})[place]} if keyword else _KEYS.get(kind.partition("_")[0], {})
    return make_key(site.path, kind, describe(node if len(node) > 1 else said))


def _make_entry(detail: ErrorDetails, site: Site, root: Schema) -> FieldError:
    kind = detail["type"]
    if detail["loc"][-1:] == (OF_KEYS,):
        return _make_key_entry(detail, site)
    if kind == "missing":
        return make_missing(site.path, site.node, root)
    if kind == "extra_forbidden" or kind == "unexpected_keyword_argument":
        return make_unknown(site.path, _list_names(site, root))
    if site.node is None or not site.node.keys() - {"description", "default"} or kind == _TOO_MANY:
        text = explain(detail) if kind in _RAISED else _clean(explain(detail), "Input is not valid")
        return {"loc": list(site.path), "type": kind, "msg": text}
    if _is_in_schema(kind, site.node):
        return make_invalid(site.path, kind, site.node, root, site.value)
    wanted = describe(site.node)
    text = explain(detail) if kind in _RAISED else _clean(explain(detail), say_wanted(wanted))
    return {"loc": list(site.path), "type": kind, "msg": text, "expected": wanted}


def _is_in_schema(kind: str, node: Schema) -> bool:
    if kind in _RAISED:
        return node.get("format") == "email"
    if kind.startswith("complex_"):
        return False
    if kind in _ENCODED:
        return node.get("format") in ("base64", "base64url")
    return kind in _IN_SCHEMA or kind.endswith(("_type", "_parsing", "_parsing_size"))


def _clean(text: str, otherwise: str) -> str:
    """Return a message, or `otherwise` if it mentions Python-only terms."""
    return otherwise if _OF_PYTHON.search(text) else text


def _list_names(site: Site, root: Schema) -> list[str]:
    node: Schema | None = root
    for step in site.path[:-1]:
        node = find_inner(node, step, root)
    return list((node or {}).get("properties", {}))

"""Compile OpenAI's attribute filters to SQL for SQLite and PostgreSQL."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.kernel.core.errors import ToolException

Attribute = str | float | bool
MOST_ATTRIBUTES = 16
LONGEST_KEY, LONGEST_VALUE = 64, 512
_DEEPEST = 10
_MOST_PARTS = 100
# Maximum values of all `in` and `nin` of a filter together.
_MOST_VALUES = 1000
LARGEST_NUMBER = 2**53
_COMPARED = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_JOINED = {"and": " AND ", "or": " OR "}
# Characters that SQLite does not store in a text, or that end it.
_UNKEPT = re.compile("[\x00\ud800-\udfff]")
_FORM = (
    'filters: write {"type": "eq", "key": "...", "value": ...} with eq, ne, gt, gte, lt, lte, in or nin, or '
    '{"type": "and", "filters": [...]} with and or or.'
)
# The alias of each file: `m` and a number.
# As a value, not as a condition of its own: PostgreSQL would otherwise join them all, and look for the best order of a
# hundred joins for ten seconds.
_HAS = (
    "((EXISTS (SELECT 1 FROM file_attributes AS a WHERE a.member = m.number AND a.name = {} AND a.kind = {} AND {}))"
    " IS TRUE)"
)
# Attribute rows: file, name, kind, and the value as a text or as a number.
AttributeRow = tuple[int, str, str, str | None, float | None]


def name_kind(value: Any) -> str | None:
    """Return the kind of an attribute's value; None if it cannot be one."""
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, str):
        return "text" if len(value) <= LONGEST_VALUE and not _UNKEPT.search(value) else None
    # A value that is not a number is not less than anything either.
    is_number = isinstance(value, int | float) and abs(value) <= LARGEST_NUMBER
    return "number" if is_number else None


def explain_value(value: Any) -> str:
    """Explain why a value cannot be an attribute."""
    if isinstance(value, str):
        is_long = len(value) > LONGEST_VALUE
        return (
            f"a text has {LONGEST_VALUE} characters at most" if is_long else "a text has no NUL and no half characters"
        )
    if isinstance(value, int | float):
        return f"a number is from -{LARGEST_NUMBER} to {LARGEST_NUMBER}: beyond them not all are told apart"
    return "a value is a text, a number or a truth value"


def is_attribute(key: str, value: Any) -> bool:
    """Return whether a file can have this attribute."""
    return 0 < len(key) <= LONGEST_KEY and name_kind(key) is not None and name_kind(value) is not None


def list_attributes(member: int, attributes: Mapping[str, Attribute]) -> list[AttributeRow]:
    """Return the attributes of a file as a database has them."""
    return [(member, key, name_kind(value) or "", *split_value(value)) for key, value in attributes.items()]


def split_value(value: Any) -> tuple[str | None, float | None]:
    """Return a value as a text or as a number; booleans are 0 or 1."""
    return (value, None) if isinstance(value, str) else (None, float(value))


def write_filter(wanted: Any, after: int = 0) -> tuple[str, list[Any]]:
    """Return the SQL condition of a filter, and the values of its placeholders, `$1` and so on.

    No comparison but `ne` and `nin` holds for a file without the attribute, or with one of another kind.

    Args:
        wanted: The filter.
        after: The number of the last used placeholder.

    Raises:
        ToolException: The filter is invalid; the message tells the model how to write one.
    """
    values: list[Any] = []
    return _Writer(values, after).write(wanted, 0), values


class _Writer:
    def __init__(self, values: list[Any], after: int) -> None:
        self._values = values
        self._after = after
        self._parts = 0
        self._listed = 0

    def write(self, wanted: Any, depth: int) -> str:
        self._parts += 1
        if not isinstance(wanted, Mapping) or depth > _DEEPEST or self._parts > _MOST_PARTS:
            raise ToolException(_FORM)
        kind = wanted.get("type")
        if not isinstance(kind, str):
            raise ToolException(_FORM)
        if kind in _JOINED:
            inner = wanted.get("filters")
            if not _is_list(inner) or not inner:
                raise ToolException(_FORM)
            return f"({_JOINED[kind].join(self.write(it, depth + 1) for it in inner)})"
        key, value = wanted.get("key"), wanted.get("value")
        if not isinstance(key, str) or name_kind(key) is None:
            raise ToolException(_FORM)
        return self._compare(kind, key, value)

    def _compare(self, kind: str, key: str, value: Any) -> str:
        if kind in ("in", "nin"):
            if not _is_list(value) or not value or len(value) > _MOST_PARTS:
                raise ToolException(_FORM)
            found = self._has_one_of(key, value)
            return f"NOT ({found})" if kind == "nin" else f"({found})"
        if kind in ("eq", "ne"):
            return ("NOT " if kind == "ne" else "") + self._has(key, value, "=")
        if kind not in _COMPARED or isinstance(value, bool):
            raise ToolException(_FORM)
        return self._has(key, value, _COMPARED[kind])

    def _has_one_of(self, key: str, values: Sequence[Any]) -> str:
        """Write one look for all values of a kind."""
        self._listed += len(values)
        if self._listed > _MOST_VALUES:
            raise ToolException(f"{_FORM} All lists of values together have {_MOST_VALUES} at most.")
        by_kind: dict[str, list[Any]] = {}
        for value in values:
            by_kind.setdefault(_require_kind(key, value), []).append(value)
        return " OR ".join(self._look(key, kind, "IN ({})", each) for kind, each in by_kind.items())

    def _has(self, key: str, value: Any, sign: str) -> str:
        return self._look(key, _require_kind(key, value), f"{sign} {{}}", [value])

    def _look(self, key: str, kind: str, comparison: str, values: Sequence[Any]) -> str:
        column, part = ("text", 0) if kind == "text" else ("number", 1)
        name, of_kind, *places = self._add(key, kind, *(split_value(it)[part] for it in values))
        return _HAS.format(name, of_kind, f"a.{column} {comparison.format(', '.join(places))}")

    def _add(self, *values: Any) -> list[str]:
        """Add values, and return their placeholders."""
        first = self._after + len(self._values) + 1
        self._values += values
        return [f"${first + place}" for place in range(len(values))]


def _require_kind(key: str, value: Any) -> str:
    kind = name_kind(value)
    if kind is None:
        raise ToolException(f"{_FORM} The `value` for {key[:LONGEST_KEY]!r}: {explain_value(value)}.")
    return kind


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)

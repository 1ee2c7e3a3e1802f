"""Filters find in SQL what they find in Python."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecall import ToolException
from sidecall.features.vector_stores.filters import write_filter
from sidecall.features.vector_stores.index import FileIndex

KEYS = ("a", "b", 'c"d', "é'")
VALUES = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, -1.5, 1.0, 2.0**53]),
    st.sampled_from(["", "x", "y", "é", "'", '"', "1", "true", "\U0001f600", "\uffff"]),
)
FILES = st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES), max_size=5)
SINGLE = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["eq", "ne"]), "key": st.sampled_from(KEYS), "value": VALUES}),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["gt", "gte", "lt", "lte"]),
            "key": st.sampled_from(KEYS),
            "value": VALUES.filter(lambda it: not isinstance(it, bool)),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["in", "nin"]),
            "key": st.sampled_from(KEYS),
            "value": st.lists(VALUES, min_size=1, max_size=3),
        }
    ),
)
FILTERS = st.recursive(
    SINGLE,
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(["and", "or"]), "filters": st.lists(inner, min_size=1, max_size=3)}
    ),
    max_leaves=6,
)


def holds(wanted: Any, attributes: dict[str, Any]) -> bool:
    """Say in Python what a filter means."""
    kind = wanted["type"]
    if kind in ("and", "or"):
        return (all if kind == "and" else any)(holds(it, attributes) for it in wanted["filters"])
    value, wants = attributes.get(wanted["key"]), wanted["value"]
    if kind in ("in", "nin"):
        return any(_is_same(value, it) for it in wants) is (kind == "in")
    if kind in ("eq", "ne"):
        return _is_same(value, wants) is (kind == "eq")
    if value is None or isinstance(value, bool) or isinstance(value, str) is not isinstance(wants, str):
        return False
    return bool({"gt": value > wants, "gte": value >= wants, "lt": value < wants, "lte": value <= wants}[kind])


def _is_same(value: Any, wanted: Any) -> bool:
    if value is None or isinstance(value, bool) is not isinstance(wanted, bool):
        return False
    return isinstance(value, str) is isinstance(wanted, str) and value == wanted


@settings(max_examples=60, deadline=None)
@given(FILES, FILTERS)
def test_sql_finds_what_python_finds(files: list[dict[str, Any]], wanted: Any) -> None:
    """No matter what the attributes are."""
    index = FileIndex()
    index.put((f"{number}", "tea", attributes) for number, attributes in enumerate(files))
    found = {piece.filename for piece in index.search(["tea"], 50, wanted)}
    index.close()

    assert found == {f"{number}" for number, attributes in enumerate(files) if holds(wanted, attributes)}


@pytest.mark.parametrize(
    "wanted",
    [
        "a = 1",
        [],
        {},
        {"type": "eq", "key": "a"},
        {"type": "eq", "key": 1, "value": 1},
        {"type": "eq", "key": "a", "value": None},
        {"type": "eq", "key": "a", "value": float("nan")},
        {"type": "eq", "key": "a", "value": 10**400},
        {"type": "eq", "key": "a", "value": "x" * 513},
        {"type": "eq", "key": "a", "value": "\0"},
        {"type": "eq", "key": "\ud800", "value": "x"},
        {"type": "gt", "key": "a", "value": True},
        {"type": "in", "key": "a", "value": []},
        {"type": "in", "key": "a", "value": "abc"},
        {"type": "like", "key": "a", "value": "x"},
        {"type": ["eq"], "key": "a", "value": "x"},
        {"type": "and", "filters": []},
        {"type": "or", "filters": [{"type": "eq", "key": "a", "value": 1}] * 101},
        {"type": "in", "key": "a", "value": ["x"] * 101},
        {"type": "and", "filters": [{"type": "in", "key": "a", "value": list(range(100))}] * 11},
        {"type": "or", "filters": [{"type": "nin", "key": str(key), "value": ["x"] * 91} for key in range(11)]},
    ],
)
def test_what_is_no_filter_is_said(wanted: Any) -> None:
    """With how to write one."""
    with pytest.raises(ToolException, match="filters: write"):
        write_filter(wanted)


@pytest.mark.parametrize(
    ("wanted", "looks"),
    [
        ({"type": "in", "key": "a", "value": list(range(100))}, 1),
        ({"type": "nin", "key": "a", "value": ["x", 1, True, "y", 2, False]}, 3),
        ({"type": "and", "filters": [{"type": "in", "key": "a", "value": list(range(100))}] * 10}, 10),
    ],
)
def test_a_list_of_values_is_looked_for_at_once(wanted: Any, looks: int) -> None:
    """One look for all values of a kind: the cost does not grow with their number times that of files."""
    condition, values = write_filter(wanted)

    assert condition.count("EXISTS") == looks
    assert len(values) <= 1020

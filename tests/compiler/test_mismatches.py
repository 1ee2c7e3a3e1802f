"""Of very many errors a JSON Schema's validator makes few, in steps."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from sidecall.compiler.json_args_schema import make_json_args_schema
from sidecall.compiler.json_schema_library import compile_validator
from sidecall.compiler.mismatches import Whole, list_mismatches
from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.schema import whole_numbers

_FORMS = [
    {
        "type": "object",
        "properties": {"kind": {"const": f"kind_{it}"}, "number": {"type": "integer" if it % 2 else "number"}},
        "required": ["kind", "number"],
    }
    for it in range(30)
]
_WORD = {"type": "string", "pattern": "^(a|b|ab)*$"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "numbers": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}},
        "one_of": {"type": "array", "minItems": 2, "items": {"oneOf": _FORMS}},
        "rows": {"type": "array", "items": {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}},
        "named": {"type": "object", "additionalProperties": {"oneOf": _FORMS}},
        "words": {"type": "object", "propertyNames": _WORD},
        "closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        "needed": {"type": "object", "properties": {"list": {"type": "array", "items": _WORD}}, "required": ["b"]},
    },
}
_GOOD, _BAD = {"kind": "kind_29", "number": 1}, {"kind": "none", "number": 1}


class _Counting:
    """A validator that counts the errors that it makes at once, with those of members of unions."""

    def __init__(self, schema: Any = _SCHEMA) -> None:
        self._inner = compile_validator(schema, mask="Input")
        self.most = 0

    def is_valid(self, value: Any) -> bool:
        fits: bool = self._inner.is_valid(value)
        return fits

    def iter_errors(self, value: Any) -> Sequence[Any]:
        errors = list(self._inner.iter_errors(value))
        self.most = max(self.most, sum(1 + sum(map(len, getattr(it.kind, "context", ()))) for it in errors))
        return errors


def _tell(errors: Sequence[Any]) -> list[str]:
    return sorted(f"{it.instance_path} {it.schema_path} {getattr(it.kind, 'property', '')}" for it in errors)


@pytest.mark.parametrize(
    "given",
    [
        {"numbers": [*range(3_000), "x"]},
        {"numbers": ["x" if it % 500 == 7 else it for it in range(3_000)], "one_of": [_BAD]},
        {"one_of": [_BAD if it % 400 == 7 else _GOOD for it in range(1_000)]},
        {"rows": [[1, 2], [*range(200), "x"], [1] * 200] * 3},
        {"named": {f"name {it}": _BAD if it == 700 else _GOOD for it in range(1_000)}},
        {"needed": {"list": ["a"] * 500 + ["x"] + ["b"] * 500}},
        {"words": {"a": 1}, "closed": {"a": 1, "c": 2}, "needed": {"list": ["a"] * 5_000}},
    ],
    ids=str,
)
def test_all_errors_are_told_where_there_are_few(given: dict[str, Any]) -> None:
    """In lists, objects and lists of lists, early or late, and of what has them."""
    found = list_mismatches(_Counting(), given)

    assert found.is_whole
    assert _tell(found.errors) == _tell(list(compile_validator(_SCHEMA).iter_errors(given)))


_WORDS = [f"text {it}" for it in range(4_000)]


@pytest.mark.parametrize(
    "given",
    [
        {"numbers": _WORDS},
        {"numbers": [*range(4_000), *_WORDS]},
        {"one_of": [_BAD] * 2_000},
        {"one_of": [_GOOD] * 2_000 + [_BAD] * 2_000},
        {"rows": [_WORDS]},
        {"named": dict.fromkeys(_WORDS, _BAD)},
        {"words": dict.fromkeys(_WORDS, 1)},
    ],
    ids=["all", "late", "forms", "late forms", "rows", "by names", "words"],
)
def test_few_errors_are_made_at_once(given: dict[str, Any]) -> None:
    """Not one for each value and member of a union, and what is told is true of the whole."""
    counting = _Counting()

    found = list_mismatches(counting, given)

    assert (found.is_whole, 0 < len(found.errors) <= 101, counting.most < 8_000) == (False, True, True)
    assert all(_reach(given, it.instance_path) for it in found.errors)


def _reach(given: Any, path: Sequence[Any]) -> bool:
    for step in path:
        given = given[step]
    return not isinstance(given, int)


def test_a_model_is_told_that_there_are_more() -> None:
    """And what each of them should be."""
    schema = make_json_args_schema("here", _SCHEMA, None, forbid_unknown=False)

    with pytest.raises(InvalidArguments) as caught:
        schema.validate({"numbers": _WORDS}, {}, [], [])

    assert str(caught.value) == "numbers[*]: Input should be an integer or boolean (100 items)\n… and more"


def _make_whole_floats() -> Iterator[tuple[str, Any]]:
    items = [{"kind": f"kind_{it % 30}", "number": 2.0} for it in range(900)]
    yield "one_of", items
    yield "named", {str(place): it for place, it in enumerate(items)}


@pytest.mark.parametrize(("name", "value"), list(_make_whole_floats()), ids=["list", "object"])
def test_whole_floats_of_large_values_are_looked_at_in_parts(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    """With what is made of them at once."""
    schema = make_json_args_schema("here", _SCHEMA, None, forbid_unknown=False)
    in_parts = schema.validate({name: value}, {}, [], [])
    monkeypatch.setattr(whole_numbers, "_MOST_AT_ONCE", 10**9)

    assert repr(in_parts) == repr(schema.validate({name: value}, {}, [], []))
    assert "2.0" in repr(in_parts)
    assert "2}" in repr(in_parts)


def test_parts_join_to_the_whole() -> None:
    """Each value is in one of them."""
    value = {"few": 1, "list": [[it, {"a": it}] for it in range(300)], "names": {str(it): it for it in range(300)}}
    cut = Whole(value)
    parts = [cut.cut(begin, begin + 100).value for begin in range(0, cut.size, 100)]

    assert [it for part in parts for it in part["list"]] == value["list"]
    assert {name: it for part in parts for name, it in part["names"].items()} == value["names"]

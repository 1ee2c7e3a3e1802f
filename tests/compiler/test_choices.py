"""How many values are validated at once depends on how many ways there are to read each."""

import re
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from sidecall import StructuredTool, tool
from sidecall.compiler.choices import is_costly, leads_back
from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.tool import ArgsSchema

_LEAF: dict[str, Any] = {"type": "integer"}


def _make_sum(op: str) -> dict[str, Any]:
    value = {"$ref": "#/$defs/Value"}
    return {
        "type": "object",
        "properties": {"op": {"const": op}, "left": value, "right": value},
        "required": ["op", "left", "right"],
    }


_VALUE = {"anyOf": [{"$ref": "#/$defs/Sum"}, {"$ref": "#/$defs/Product"}, _LEAF]}
_ENDLESS: dict[str, Any] = {
    "type": "object",
    "properties": {"value": {"$ref": "#/$defs/Value"}, "values": {"type": "array", "items": {"$ref": "#/$defs/Value"}}},
    "$defs": {"Value": _VALUE, "Sum": _make_sum("sum"), "Product": _make_sum("product")},
}
_TREE = {
    "type": "object",
    "properties": {"tree": {"$ref": "#/$defs/Node"}},
    "$defs": {
        "Node": {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}}}
    },
}


async def _run(**args: Any) -> str:
    """Run."""
    return str(len(args))


def _compile(schema: dict[str, Any]) -> ArgsSchema:
    made = StructuredTool.from_function(coroutine=_run, name="run", description="Run.", args_schema=schema)
    return made.compiled.args_schema


def _choose_from(options: int) -> dict[str, Any]:
    kinds = [{"type": "object", "properties": {"kind": {"const": it}}} for it in range(options)]
    return {"type": "object", "properties": {"values": {"type": "array", "items": {"oneOf": kinds}}}}


@pytest.mark.parametrize(
    ("schema", "most"),
    [
        ({"type": "object", "properties": {"values": {"type": "array"}}}, 1_000),
        (_choose_from(2), 1_000),
        (_choose_from(30), 100),
        (_choose_from(3_000), 10),
        ({"type": "object", "properties": {"x": {"anyOf": [_choose_from(30), _choose_from(30)]}}}, 50),
        (_TREE, 1_000),
        (_ENDLESS, 2),
    ],
    ids=["no choices", "two", "thirty", "3,000", "within each other", "one that leads back", "several that do"],
)
def test_fewer_values_are_validated_at_once_where_each_may_be_more_things(schema: dict[str, Any], most: int) -> None:
    """By JSON Schema."""
    assert _compile(schema).most_at_once == most


class _Sum(BaseModel):
    left: "_Sum | _Product | int"


class _Product(BaseModel):
    left: "_Sum | _Product | int"


@pytest.mark.parametrize(
    ("annotation", "most"),
    [
        (list[int], 10_000),
        (list[int | str], 1_000),
        (set[int], 100),
        (frozenset[int] | None, 100),
        (re.Pattern[str], 100),
        (list[Literal["a", "b"]], 10_000),
        (_Sum, 2),
    ],
    ids=str,
)
def test_fewer_values_are_validated_at_once_by_slow_types(annotation: Any, most: int) -> None:
    """By models: those of sets may have the same hash, and patterns are read in Python."""

    async def take(value: Any) -> None:
        """Take a value."""

    take.__annotations__["value"] = annotation

    assert tool(take).compiled.args_schema.most_at_once == most


def _nest(levels: int, leaf: Any) -> Any:
    return {"op": "product", "left": _nest(levels - 1, leaf), "right": 1} if levels else leaf


def test_what_multiplies_is_told_from_what_is_merely_much() -> None:
    """Where members of a choice hold that choice again, and not where many values are beside each other."""
    root = _compile(_ENDLESS).flat

    assert leads_back(root)
    assert not leads_back(_compile(_TREE).flat)
    assert not leads_back(_compile(_choose_from(30)).flat)
    assert is_costly({"value": _nest(20, 1)}, root)
    assert is_costly({"value": _nest(190, 1)}, root)
    assert not is_costly({"value": _nest(3, 1)}, root)
    assert not is_costly({"values": [_nest(1, 1) for _ in range(5_000)]}, root)
    assert not is_costly({"values": [1] * 20_000}, root)


def test_what_multiplies_and_fits_is_taken() -> None:
    """The validator remembers what fits."""
    given = {"value": _nest(100, 1)}

    assert _compile(_ENDLESS).validate(given, {}, [], []) == given


@pytest.mark.parametrize("leaf", ["x", None, {"op": "none"}], ids=str)
def test_what_multiplies_and_does_not_fit_is_refused(leaf: Any) -> None:
    """Errors of each member at each of 100 levels would never be listed to the end."""
    with pytest.raises(InvalidArguments) as caught:
        _compile(_ENDLESS).validate({"value": _nest(100, leaf)}, {}, [], [])

    assert len(caught.value.errors) == 1


@pytest.mark.parametrize("name", ["regex", "idn-hostname", "idn-email"])
def test_long_texts_of_slow_formats_are_refused_unread(name: str) -> None:
    """Short ones are checked, and a long one of valid parts is none."""
    right = {"regex": "(a|b)", "idn-hostname": "é.example", "idn-email": "é@example.org"}[name]
    schema = _compile({"type": "object", "properties": {"value": {"type": "string", "format": name}}})

    assert schema.validate({"value": right}, {}, [], []) == {"value": right}
    for wrong in ("(", right * 10_000):
        with pytest.raises(InvalidArguments):
            schema.validate({"value": wrong}, {}, [], [])

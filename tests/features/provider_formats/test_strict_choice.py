"""Of the tools of one list as many are strict as the API takes, the first of them."""

from typing import Any

import pytest

from sidecall import StructuredTool, tool
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.schema.forms.definitions import DefinitionFormat, choose_strict, render_definitions

TEXT = {"type": "string"}
EITHER = {"anyOf": [TEXT, {"type": "integer"}]}


def _make(name: str, optional: int = 0, unions: int = 0, **options: Any) -> CompiledTool:
    loose = {f"optional_{number}": TEXT for number in range(optional)}
    wide = {f"either_{number}": EITHER for number in range(unions)}
    return _take(name, {"type": "object", "properties": {**loose, **wide}, "required": list(wide)}, **options)


def _take(name: str, schema: Schema, **options: Any) -> CompiledTool:
    def take(**given: Any) -> None:
        """Take what is given."""

    made: StructuredTool = tool(name, args_schema=schema, **options)(take)
    return made.compiled


def _names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{number:02}" for number in range(count)]


@pytest.mark.parametrize(
    ("tools", "plain"),
    [
        pytest.param([_make(name) for name in _names("t", 20)], [], id="20 tools"),
        pytest.param([_make(name) for name in _names("t", 22)], ["t20", "t21"], id="22 tools"),
        pytest.param([_make(name, optional=3) for name in _names("t", 9)], ["t08"], id="24 of 27 optional parameters"),
        pytest.param([_make(name, unions=5) for name in _names("t", 4)], ["t03"], id="15 of 20 choices of types"),
        pytest.param(
            [_make("first", optional=20), _make("second", optional=5), _make("third", optional=4)],
            ["second"],
            id="a later one that fits",
        ),
        pytest.param([_make("wide", optional=25), _make("other", optional=24)], ["wide"], id="too many of its own"),
        pytest.param(
            [_make("told", strict=False), *(_make(name) for name in _names("t", 20))],
            ["told"],
            id="one that is told not",
        ),
        pytest.param(
            [_take("loose", {"properties": {"x": {}}}), *(_make(name) for name in _names("t", 21))],
            ["loose", "t20"],
            id="one that cannot be takes no room",
        ),
    ],
)
def test_anthropic_is_listed_no_more_strict_tools_than_it_takes(tools: list[CompiledTool], plain: list[str]) -> None:
    """20 tools, 24 optional parameters and 16 choices of types; the others have their plain form."""
    listed = render_definitions(tools, "anthropic", strict=True)

    assert [it["name"] for it in listed if not it.get("strict")] == plain
    assert [it["name"] for it in listed] == [it.name for it in tools]


@pytest.mark.parametrize("form", ["openai", "openai-responses"])
def test_openai_has_no_such_limits(form: DefinitionFormat) -> None:
    """All of them are strict."""
    tools = [_make(name, optional=3, unions=2) for name in _names("t", 30)]

    assert choose_strict(tools, form, asked=True) == {it.name for it in tools}


def test_what_is_inside_counts_too() -> None:
    """Optional parameters and choices at every depth."""
    inner = {"type": "object", "properties": {f"p{number}": TEXT for number in range(13)}}
    twice = {
        "type": "object",
        "properties": {"a": inner, "b": {"type": "array", "items": inner}},
        "required": ["a", "b"],
    }

    assert choose_strict([_take("t", twice)], "anthropic", asked=True) == set()


def test_a_tool_that_is_always_strict_counts_though_none_are_asked_for() -> None:
    """The limit is the request's."""
    tools = [_make(name, strict=True) for name in _names("t", 21)]

    assert sorted(choose_strict(tools, "anthropic", asked=False)) == _names("t", 20)


def test_what_is_declared_as_the_providers_own_takes_no_room() -> None:
    """It is no function of ours there."""
    tools = [_make(name) for name in _names("t", 21)]
    declared = {"t00": [{"type": "bash_20250124", "name": "bash"}]}

    listed = render_definitions(tools, "anthropic", strict=True, declared=declared)

    assert [it.get("strict") for it in listed] == [None, *[True] * 20]

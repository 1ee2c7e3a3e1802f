"""What functools.partial has is hidden from the model, which cannot give it."""

import functools
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from sidecall import InjectedToolArg, StructuredTool, tool
from sidecall.compiler.signature import read_signature
from sidecall.kernel.core.errors import SchemaInferenceError
from tests.kit.calls import run


def mix(a: int, b: Annotated[int, Field(ge=0)] = 2, *, c: str = "c") -> str:
    """Mix things.

    Args:
        a: The first.
        b: The second.
        c: The third.
    """
    return f"{a} {b} {c}"


async def amix(a: int, b: int = 2) -> str:
    """Mix asynchronously."""
    return f"{a} {b}"


def collect(a: int, *more: int, **named: str) -> str:
    """Collect everything."""
    return f"{a} {more} {named}"


def ordered(a: int, b: int, /) -> str:
    """Take what comes."""
    return f"{a} {b}"


def injected(a: int, user: Annotated[str, InjectedToolArg]) -> str:
    """Ask the caller."""
    return f"{a} {user}"


@functools.wraps(mix)
def wrapped(*args: Any, **named: Any) -> str:
    """Stand before something."""
    return mix(*args, **named)


class Mixer:
    """Mix with a factor."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def mix(self, a: int, b: int) -> int:
        """Mix two."""
        return self.factor * (a + b)

    async def amix(self, a: int, b: int) -> int:
        """Mix two asynchronously."""
        return self.factor * (a + b)


named = functools.partial(mix, 1)
functools.update_wrapper(named, mix)
documented = functools.partial(mix, 1)
documented.__doc__ = "Mix with one."


@pytest.mark.parametrize(
    ("function", "shown", "args", "expected"),
    [
        pytest.param(functools.partial(mix, 1), ["b", "c"], {"b": 3}, "1 3 c", id="positional"),
        pytest.param(functools.partial(mix, b=5), ["a", "c"], {"a": 1}, "1 5 c", id="keyword"),
        pytest.param(functools.partial(mix, 1, 2, c="x"), [], {}, "1 2 x", id="everything"),
        pytest.param(functools.partial(functools.partial(mix, 1), c="x"), ["b"], {"b": 0}, "1 0 x", id="nested"),
        pytest.param(functools.partial(named, c="x"), ["b"], {"b": 0}, "1 0 x", id="nested, with a name"),
        pytest.param(
            functools.wraps(named)(lambda **given: named(**given)), ["b", "c"], {"b": 0}, "1 0 c", id="decorated"
        ),
        pytest.param(functools.partial(wrapped, 1), ["b", "c"], {"b": 0}, "1 0 c", id="of something decorated"),
        pytest.param(functools.partial(ordered, 1), ["b"], {"b": 2}, "1 2", id="positional-only"),
        pytest.param(functools.partial(injected, a=1), [], {}, "1 ada", id="beside an injected one"),
        pytest.param(functools.partial(amix, b=1), ["a"], {"a": 2}, "2 1", id="async"),
        pytest.param(functools.partial(Mixer(2).mix, 1), ["b"], {"b": 2}, 6, id="bound method"),
        pytest.param(functools.partial(Mixer(2).amix, b=1), ["a"], {"a": 2}, 6, id="async bound method"),
        pytest.param(functools.partial(collect, 1), ["more"], {"x": "y"}, "1 () {'x': 'y'}", id="variadic"),
    ],
)
async def test_what_is_left_are_the_arguments(
    function: Callable[..., Any], shown: list[str], args: dict[str, Any], expected: Any
) -> None:
    """No matter what the partial is made of."""
    made = tool("mix")(function)

    assert list(made.compiled.args_schema.flat["properties"]) == shown
    assert await made.ainvoke(args, context={"user": "ada"}) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (functools.partial(amix, 1), True),
        (functools.partial(Mixer(2).amix, 1), True),
        (functools.partial(mix, 1), False),
    ],
)
def test_whether_it_is_async_is_seen_through_it(function: Any, expected: bool) -> None:
    """An async method too runs on the event loop."""
    assert tool("mix")(function).compiled.is_async is expected


@pytest.mark.parametrize(
    ("function", "description"),
    [
        pytest.param(functools.partial(mix, 1), "Mix things.", id="of the function"),
        pytest.param(named, "Mix things.", id="copied"),
        pytest.param(documented, "Mix with one.", id="its own"),
    ],
)
def test_the_texts_come_from_the_function_below(function: Any, description: str) -> None:
    """What is said there of a value that is given is no mistake."""
    made = tool("mix", error_on_invalid_docstring=description == "Mix things.")(function).compiled

    assert (made.description, made.notes) == (description, ())
    assert made.source.startswith("tests/compiler/test_signature_partial.py:")


@pytest.mark.parametrize(
    ("function", "args", "expected", "ignored"),
    [
        pytest.param(functools.partial(mix, 1), {"a": 9, "b": 3}, "1 3 c", ["a"], id="positional"),
        pytest.param(functools.partial(mix, b=5), {"a": 9, "b": 3}, "9 5 c", ["b"], id="keyword"),
        pytest.param(
            functools.partial(collect, 1, x="y"),
            {"a": 9, "x": "z", "v": "w"},
            "1 () {'x': 'y', 'v': 'w'}",
            ["a", "x"],
            id="kwargs",
        ),
    ],
)
async def test_the_model_cannot_give_what_is_given(
    function: Any, args: dict[str, Any], expected: str, ignored: list[str]
) -> None:
    """It is reported like any argument that nobody takes."""
    made = tool("mix")(function)

    message = await run(made, args)

    assert (message.content, message.response_metadata["ignored_args"]) == (expected, ignored)


def test_a_partial_is_offered_by_from_function() -> None:
    """Under the name that it is given."""
    made = StructuredTool.from_function(functools.partial(mix, 1), name="one_mix")

    assert (made.name, made.invoke({"b": 0})) == ("one_mix", "1 0 c")


def test_a_class_with_some_values_is_offered() -> None:
    """It is called like a function."""

    class Point(BaseModel):
        """Make a point."""

        x: int
        y: int

    made = tool("point")(functools.partial(Point, x=1))

    assert made.invoke({"y": 2}) == Point(x=1, y=2)
    assert read_signature(functools.partial(Point, x=1)).returns is Point


@pytest.mark.parametrize(
    "function",
    [functools.partial(mix, nothing=1), functools.partial(mix, 1, 2, 3, 4), functools.partial(ordered, b=1)],
)
def test_values_that_nothing_takes_stop_the_start(function: Any) -> None:
    """Every call would fail; the values are not shown."""
    with pytest.raises(SchemaInferenceError) as caught:
        _ = tool("mix")(function).compiled

    assert caught.value.message.endswith(": tool 'mix': the arguments of functools.partial do not fit its function.")


def test_what_does_not_say_what_it_takes_stops_the_start() -> None:
    """Some functions written in C do not."""
    with pytest.raises(SchemaInferenceError, match="tool 'newest': no signature found for builtin"):
        _ = tool("newest")(max).compiled

"""What a tool returns is waited for until it is complete."""

import threading
from collections.abc import AsyncIterator, Iterator
from itertools import repeat
from typing import Any

import pytest

from sidecall import tool


@tool
def words() -> Iterator[str]:
    """Yield the parts of a text."""
    yield "one "
    yield "two"


@tool
async def awords() -> AsyncIterator[str]:
    """Yield the parts of a text."""
    yield "one "
    yield "two"


@tool
def numbers() -> Iterator[int]:
    """Yield numbers."""
    yield from (1, 2)


@tool(executor="inline")
def nothing() -> Iterator[str]:
    """Yield nothing."""
    yield from ()


@tool
def later() -> Any:
    """Return what is yet to be awaited, and that yields."""

    async def more() -> Any:
        return awords.func() if awords.func else None

    return more()


@tool
def pairs() -> Any:
    """Return an iterator that is no generator."""
    return zip("ab", "cd", strict=True)


@tool
async def apairs() -> Any:
    """Return one on the event loop, with more parts than are taken in one turn."""
    return map(str, range(2500))


@pytest.mark.parametrize(
    ("made", "result"),
    [
        (words, "one two"),
        (awords, "one two"),
        (numbers, [1, 2]),
        (nothing, []),
        (pairs, [("a", "c"), ("b", "d")]),
        (apairs, [str(number) for number in range(2500)]),
        (later, "one two"),  # an awaitable that gives an async generator
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_generators_are_drained(made: Any, result: Any) -> None:
    """Texts to one text, anything else to a list."""
    assert await made.ainvoke({}) == result


async def test_a_generator_of_a_sync_tool_runs_in_its_thread() -> None:
    """The event loop would be blocked by it."""

    @tool
    def where() -> Iterator[str]:
        """Yield the thread's name."""
        yield threading.current_thread().name

    assert (await where.ainvoke({})).startswith("sidecall-tool")


async def test_an_error_in_the_middle_is_an_error_of_the_tool() -> None:
    """Half a result is none; a program that calls the tool gets what was raised."""

    @tool
    def half() -> Iterator[str]:
        """Yield, then fail."""
        yield "half"
        raise ValueError("the other half")

    with pytest.raises(ValueError, match="the other half"):
        await half.ainvoke({})


def test_an_async_generator_runs_on_the_event_loop() -> None:
    """A thread would only hand it back."""
    assert awords.compiled.executor == "inline"
    assert words.compiled.executor == "thread"


async def _iterator() -> Any:
    return repeat(1)


def _iterator_in_a_thread() -> Any:
    return repeat(1)


async def _generator() -> Any:
    while True:
        yield 1


@pytest.mark.parametrize("function", [_iterator, _iterator_in_a_thread, _generator])
async def test_a_result_without_end_is_left_at_the_deadline(function: Any) -> None:
    """It is the server that asks for the next part, so it can stop, even where nothing is ever waited for."""
    made = tool("endless", description="Return what never ends.", timeout=0.05)(function)
    message = await made.ainvoke({"name": "endless", "args": {}, "id": "call_1", "type": "tool_call"})

    assert message.response_metadata["error"]["kind"] == "timeout"


@pytest.mark.parametrize("executor", ["inline", "thread"])
async def test_a_generator_that_is_left_cleans_up_at_once(executor: Any) -> None:
    """And not whenever it is collected."""
    kept: list[Any] = []
    left = threading.Event()

    def endless() -> Iterator[int]:
        """Yield without end."""
        try:
            while True:
                yield 1
        finally:
            left.set()

    def start() -> Iterator[int]:
        kept.append(endless())
        generator: Iterator[int] = kept[0]
        return generator

    made = tool("endless", description="Return what never ends.", timeout=0.05, executor=executor)(start)
    await made.ainvoke({"name": "endless", "args": {}, "id": "call_1", "type": "tool_call"})

    assert left.wait(20)

"""Code of models in Monty ends with an answer that they can go on with, whatever it does."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from sidecall.core.run.sandbox import PythonEnd
from sidecall.executors.sandbox.monty import MontyPython
from tests.executors.sandbox.machine import LIMITS

Run = Callable[[str], Awaitable[PythonEnd]]


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[Run]:
    """Return what runs a piece of code, with a folder."""
    python = MontyPython(LIMITS)
    yield lambda code: python.run(code, tmp_path, 5)
    await python.close()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("10**5000", "ValueError: the value of the last line cannot be shown: Exceeds the limit"),
        ("{'a': 10**6000}", "ValueError: the value of the last line cannot be shown: Exceeds the limit"),
        ("a = []\nfor i in range(3000): a = [a]\na", "RecursionError: the value of the last line cannot be shown"),
        ("a = []\nfor i in range(60): a = [a, a]\na", "MemoryError: the value of the last line is too large to show"),
        ("a = {}\nfor i in range(60): a = {1: a, 2: a}\na", "MemoryError: the value of the last line is too large"),
        ("['x' * 1_000_000] * 1000", "MemoryError: the value of the last line is too large to show"),
    ],
)
async def test_a_value_that_cannot_be_written_is_an_error(run: Run, code: str, error: str) -> None:
    """Of the code, not of the server, which does not run out of memory by it either."""
    end = await run(code)

    assert (end.value, str(end.error)[: len(error)]) == (None, error)


async def test_a_long_value_is_cut(run: Run) -> None:
    """In its middle, and says how much."""
    end = await run("'a' * 70_000")

    assert end.value == f"'{'a' * 32_767}\n[… 4466 characters left out …]\n{'a' * 32_767}'"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("x = 1", None),
        ("a = []\na.append(a)\na", "['[...]']"),
        ("ValueError('x')", "ValueError('x')"),
        ("class P:\n  def __init__(self): self.x = 1\nP()", "MontyClassProxy(name='P', attributes={'x': 1})"),
    ],
)
async def test_a_value_is_written_as_python_does(run: Run, code: str, value: str | None) -> None:
    """As far as it comes out of the interpreter."""
    end = await run(code)

    assert (end.value, end.error) == (value, None)

"""Code of models in Monty ends with an answer that they can go on with, no matter what it does."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from sidecall.features.sandbox.monty import MontyPython
from sidecall.kernel.ports.sandbox import PythonEnd
from tests.features.sandbox.machine import LIMITS
from tests.kit.waiting import PATIENCE

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


async def test_code_may_use_a_file_often(tmp_path: Path) -> None:
    """Only its time bounds how often."""
    python, code = MontyPython(LIMITS), "f = open('/workspace/l.txt', 'w')\nfor i in range(5000): f.write(f'{i}\\n')"
    end = await python.run(code, tmp_path, PATIENCE)
    await python.close()

    assert end.error is None
    assert (tmp_path / "l.txt").read_text() == "".join(f"{i}\n" for i in range(5000))


async def test_code_that_uses_files_for_too_long_is_ended(tmp_path: Path) -> None:
    """Though its own clock stands still meanwhile; it says what to do, and others run on."""
    python = MontyPython(LIMITS)
    (tmp_path / "a.txt").write_text("a")
    end = await python.run("print('hi')\nwhile True: open('/workspace/a.txt').read()", tmp_path, 0.1)
    after = await python.run("6 * 7", tmp_path, PATIENCE)
    await python.close()

    assert (end.stdout, after.value) == ("hi\n", "42")
    assert "stopped after 0.1 seconds" in str(end.error)
    assert "collect the text and write it once" in str(end.error)


async def test_code_that_prints_much_runs_to_its_end(run: Run) -> None:
    """The middle of its output is left out, which a note says."""
    end = await run("for i in range(1000): print('x' * 99)\n6 * 7")

    assert (end.value, end.error) == ("42", None)
    assert "\n[… 34464 bytes left out …]\n" in end.stdout
    assert end.stdout.endswith("x\n")


@pytest.mark.parametrize("code", ["import time\ntime.sleep(60)", "import asyncio\nawait asyncio.sleep(60)"])
async def test_code_that_would_sleep_too_long_is_told(run: Run, code: str) -> None:
    """At once, and no sleep ends early."""
    end = await run(code)

    assert "TimeoutError: sleep limit exceeded: 60s > 5s" in str(end.error)

"""What runs side by side ends together."""

import asyncio
from typing import Any

import pytest

from sidecall.pipeline.together import together
from tests.pipeline.stubborn import LONG
from tests.virtual_time import VIRTUAL, outcome, running


@pytest.fixture(scope="module")
def anyio_backend() -> Any:
    """Let no test wait."""
    return VIRTUAL


@pytest.fixture
def seen() -> list[str]:
    """Remember what ended, and how."""
    return []


async def _work(seen: list[str], name: str, seconds: float, tidying: float = 0) -> str:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        await asyncio.sleep(tidying)
        seen.append(f"{name} cancelled")
        raise
    seen.append(f"{name} done")
    return name


async def _fail(seconds: float) -> str:
    await asyncio.sleep(seconds)
    raise ValueError("a defect")


async def test_all_results_come_in_order(seen: list[str]) -> None:
    """Whichever is ready first."""
    assert await together([_work(seen, "a", 2), _work(seen, "b", 1)]) == ["a", "b"]
    assert seen == ["b done", "a done"]


async def test_nothing_runs_on_when_one_fails(seen: list[str]) -> None:
    """Those that are not done are cancelled, and may tidy up; the error comes after that."""
    work = together([_work(seen, "a", 0.5), _fail(1), _work(seen, "b", LONG, tidying=2)])

    assert await outcome(work) == (ValueError, 3.0)
    assert seen == ["a done", "b cancelled"]


async def test_nothing_runs_on_when_all_are_cancelled(seen: list[str]) -> None:
    """The last to tidy up is waited for, not the first."""
    work = asyncio.ensure_future(outcome(together([_work(seen, "a", LONG), _work(seen, "b", LONG, tidying=2)])))
    running().call_later(1, work.cancel)

    assert await work == (asyncio.CancelledError, 3.0)
    assert seen == ["a cancelled", "b cancelled"]


async def test_nothing_is_nothing() -> None:
    """As in an empty batch."""
    assert await together([]) == []

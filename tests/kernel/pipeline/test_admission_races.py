"""Places are not lost when several things happen at the same moment."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sidecall import tool
from sidecall.kernel.core.context import ANONYMOUS
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.admission import Admission, Limits
from tests.kernel.pipeline.crowd import Crowd
from tests.kit.virtual_time import outcome, running

pytestmark = pytest.mark.virtual_time


def _made(name: str, **options: Any) -> CompiledTool:
    return tool(name, description="Work.", **options)(lambda: None).compiled


FREE = _made("free")
NARROW = _made("narrow", max_concurrency=2)
ALONE = _made("alone", sequential=True)

CANCEL_THEN_LEAVE = ("cancel", "leave")
LEAVE_THEN_CANCEL = ("leave", "cancel")


class Waiting:
    """Hold one call that runs and one that waits."""

    def __init__(self) -> None:
        self.admission = Admission(Limits(concurrency=1, queue=10, queue_timeout=5))
        self.semaphores = self.admission.semaphores(FREE)

    async def begin(self) -> None:
        """Let both come."""
        await self.admission.enter(self.semaphores, ANONYMOUS)
        self.waiter = asyncio.ensure_future(outcome(self.admission.enter(self.semaphores, ANONYMOUS)))
        await asyncio.sleep(0)

    def leave(self) -> None:
        """Let the one that runs go."""
        self.admission.leave(self.semaphores, ANONYMOUS)

    def cancel(self) -> None:
        """Cancel the one that waits."""
        self.waiter.cancel()

    @property
    def crowd(self) -> tuple[int, int]:
        """How many run, and how many wait."""
        return self.admission.running, self.admission.waiting


@pytest.fixture
async def waiting() -> Waiting:
    """Give one that runs and one that waits."""
    both = Waiting()
    await both.begin()
    return both


@pytest.mark.parametrize("order", [CANCEL_THEN_LEAVE, LEAVE_THEN_CANCEL])
async def test_a_call_may_be_cancelled_when_its_place_comes(waiting: Waiting, order: tuple[str, str]) -> None:
    """It is cancelled, and the place is for the next."""
    moves: dict[str, Callable[[], None]] = {"cancel": waiting.cancel, "leave": waiting.leave}
    [moves[move]() for move in order]

    came, _ = await waiting.waiter

    assert came is asyncio.CancelledError
    assert waiting.crowd == (0, 0)
    assert await waiting.admission.enter(waiting.semaphores, ANONYMOUS) == 0.0


@pytest.mark.parametrize("order", [CANCEL_THEN_LEAVE, LEAVE_THEN_CANCEL])
async def test_the_next_is_let_in_when_a_call_is_cancelled_as_its_place_comes(
    waiting: Waiting, order: tuple[str, str]
) -> None:
    """A third waits behind it."""
    third = asyncio.ensure_future(outcome(waiting.admission.enter(waiting.semaphores, ANONYMOUS)))
    await asyncio.sleep(0)
    moves: dict[str, Callable[[], None]] = {"cancel": waiting.cancel, "leave": waiting.leave}
    [moves[move]() for move in order]

    came, seconds = await third

    assert isinstance(came, float)
    assert (seconds, waiting.crowd) == (0.0, (1, 0))
    assert (await waiting.waiter)[0] is asyncio.CancelledError


async def test_a_call_that_gave_up_at_the_moment_a_place_comes_is_sent_away(waiting: Waiting) -> None:
    """Its time is up just before somebody leaves."""
    running().call_later(5, waiting.leave)

    assert await waiting.waiter == (Overloaded, 5.0)
    assert waiting.crowd == (0, 0)
    assert await waiting.admission.enter(waiting.semaphores, ANONYMOUS) == 0.0


async def test_the_place_of_a_call_whose_time_is_up_just_then_is_not_lost() -> None:
    """Somebody leaves just before its time is up."""
    both = Waiting()
    running().call_later(5, both.leave)
    await both.begin()

    await both.waiter

    assert both.admission.waiting == 0
    assert await outcome(_one_after_another(both)) == (None, 0.0)


async def _one_after_another(both: Waiting) -> None:
    """Free the place if the waiter got it, then take it."""
    [both.leave() for _ in range(both.admission.running)]
    await both.admission.enter(both.semaphores, ANONYMOUS)


@pytest.mark.parametrize("seed", range(20))
async def test_no_place_is_lost_in_a_crowd(seed: int) -> None:
    """Calls end, fail, give up and are sent away; each limit is reached and none passed, and in the end all is free."""
    admission = Admission(Limits(concurrency=5, queue=6, queue_timeout=1.5))
    crowd = Crowd(admission, [FREE, NARROW, ALONE], seed)

    await crowd.come(200)

    assert (admission.running, admission.waiting) == (0, 0)
    assert [crowd.most[name] for name in ("server", "narrow", "alone")] == [5, 2, 1]
    assert crowd.ends.keys() == {"NoneType", "ConnectionError", "CancelledError", "Overloaded"}


@pytest.mark.parametrize("seed", range(20))
async def test_no_caller_is_wronged_in_a_crowd(seed: int) -> None:
    """The same, of callers."""
    admission = Admission(Limits(concurrency=7, per_caller=4, queue=2, queue_timeout=1.5))
    crowd = Crowd(admission, [FREE], seed)

    await crowd.come(200)

    assert (admission.running, admission.waiting) == (0, 0)
    assert max(crowd.most[f"caller {name}"] for name in "abc") == 4
    assert crowd.ends.keys() == {"NoneType", "ConnectionError", "CancelledError", "Overloaded", "TooManyCalls"}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("made", "limits", "free"), [(FREE, {"concurrency": 5}, 5), (NARROW, {}, 2), (ALONE, {}, 1)])
async def test_all_places_are_free_after_a_crowd(
    seed: int, made: CompiledTool, limits: dict[str, Any], free: int
) -> None:
    """Those of the server, and those of a tool."""
    crowd = Crowd(Admission(Limits(**limits, queue=3, queue_timeout=1.5)), [made], seed)
    await crowd.come(300)

    assert await crowd.places("a") == free


async def test_a_caller_who_has_been_there_may_come_as_often_as_at_first() -> None:
    """However its calls ended."""
    crowd = Crowd(Admission(Limits(concurrency=5, per_caller=4, queue=3, queue_timeout=1.5)), [FREE], 7)
    await crowd.come(300)

    assert await crowd.places("a") == 4

"""A caller may make so many calls in so much time, and they come back evenly."""

import asyncio

import pytest

from sidecall.features.rates.quotas import Quotas
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.overload import QuotaExceeded
from sidecall.kernel.core.quota import Quota, Rate
from tests.kit.virtual_time import running

pytestmark = pytest.mark.virtual_time

ANN, BOB = Caller("ann"), Caller("bob")


class Counted:
    """Count calls on the virtual clock."""

    def __init__(self, text: str) -> None:
        self.quotas = Quotas(Rate.parse(text), lambda: round(running().time() * 1e9))

    def calls(self, count: int, caller: Caller = ANN) -> int:
        """Try so many calls at once; tell how many were let in."""
        return sum(self._is_let_in(caller) for _ in range(count))

    async def at_pace(self, seconds: float, count: int) -> int:
        """Try so often, with pauses between; tell how many were let in."""
        let_in = 0
        for _ in range(count):
            await asyncio.sleep(seconds)
            let_in += self.calls(1)
        return let_in

    def _is_let_in(self, caller: Caller) -> bool:
        try:
            self.quotas.take(caller)
        except QuotaExceeded:
            return False
        return True

    def left(self, caller: Caller = ANN) -> tuple[int, int]:
        """Tell how many are left, and when there is one more."""
        [quota] = self.quotas.left(caller)
        return quota.left, quota.more_in


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("20/second", Rate(20, 1)),
        ("100/minute", Rate(100, 60)),
        ("1/hour", Rate(1, 3600)),
        ("999999999/day", Rate(999_999_999, 86400)),
    ],
)
def test_a_rate_is_read(text: str, rate: Rate) -> None:
    """As the setting writes it."""
    assert Rate.parse(text) == rate


@pytest.mark.parametrize("text", ["1/second", "3/minute", "7/minute", "100/minute", "1000/hour", "12345/day"])
async def test_all_calls_of_a_quota_may_come_at_once(text: str) -> None:
    """And not one more, whether they divide the time evenly or not."""
    counted = Counted(text)
    most = int(text.partition("/")[0])

    assert (counted.calls(most), counted.calls(3)) == (most, 0)


async def test_calls_come_back_evenly() -> None:
    """One every three seconds, no matter what was refused meanwhile."""
    counted = Counted("20/minute")
    counted.calls(25)

    await asyncio.sleep(2.9)
    early = counted.calls(25)
    await asyncio.sleep(0.1)
    one = counted.calls(25)
    await asyncio.sleep(30)
    ten = counted.calls(25)
    await asyncio.sleep(3600)
    all_of_them = counted.calls(25)

    assert (early, one, ten, all_of_them) == (0, 1, 10, 20)


async def test_whoever_keeps_to_the_pace_is_never_refused() -> None:
    """Even with nothing saved."""
    counted = Counted("20/second")

    assert (counted.calls(20), await counted.at_pace(0.05, 100)) == (20, 100)


async def test_whoever_comes_faster_is_let_in_at_the_pace() -> None:
    """Trying more often brings no more calls, and costs none."""
    counted = Counted("20/second")

    assert (counted.calls(20), await counted.at_pace(0.01, 500)) == (20, 100)


async def test_callers_do_not_share() -> None:
    """One who floods harms no other; a subject of another tenant is another caller."""
    counted = Counted("2/hour")

    flooded = counted.calls(100, ANN)

    assert (flooded, counted.calls(3, BOB), counted.calls(3, Caller("ann", tenant="acme"))) == (2, 2, 2)


async def test_scopes_do_not_make_another_caller() -> None:
    """They say what one may do, not who one is."""
    counted = Counted("2/hour")

    assert (counted.calls(2, ANN), counted.calls(1, Caller("ann", scopes=frozenset({"tools"})))) == (2, 0)


@pytest.mark.parametrize(
    ("calls", "seconds", "left", "more_in"),
    [
        (0, 0, 4, 0),
        (1, 0, 3, 15),
        (1, 0.5, 3, 15),  # rounded up, so that no client comes too early
        (3, 0, 1, 15),
        (4, 0, 0, 15),
        (9, 0, 0, 15),
        (4, 14.5, 0, 1),
        (4, 15, 1, 15),
        (4, 40, 2, 5),
        (4, 60, 4, 0),
        (4, 86400, 4, 0),
    ],
)
async def test_it_is_told_what_is_left(calls: int, seconds: float, left: int, more_in: int) -> None:
    """After so many calls at once, and so many seconds: how many, and when there is one more."""
    counted = Counted("4/minute")
    counted.calls(calls)
    await asyncio.sleep(seconds)

    assert counted.left() == (left, more_in)


async def test_whoever_is_refused_is_told_of_the_quota() -> None:
    """With the seconds until the next call may come."""
    counted = Counted("2/minute")
    counted.calls(2)
    await asyncio.sleep(12.25)

    with pytest.raises(QuotaExceeded) as refused:
        counted.quotas.take(ANN)

    assert refused.value.quotas == (Quota(most=2, seconds=60, left=0, more_in=18),)
    assert refused.value.retry_after == 18
    assert refused.value.message == "Calls that one caller may make in 60 s: 2. The next one may come in 18 s."


async def test_asking_what_is_left_costs_nothing() -> None:
    """Nor is anybody remembered who only asked."""
    counted = Counted("1/hour")

    asked = [counted.left() for _ in range(5)]

    assert (asked, counted.calls(2)) == ([(1, 0)] * 5, 1)


async def test_names_that_are_made_up_take_no_more_room() -> None:
    """The 10,000 who called last are remembered; a caller that is forgotten begins anew."""
    counted = Counted("2/hour")
    counted.calls(2, ANN)
    counted.calls(1, BOB)

    let_in = sum(counted.calls(1, Caller(f"made up {number}")) for number in range(9_999))
    bob = counted.calls(2, BOB)

    assert (let_in, counted.calls(3, ANN), bob) == (9_999, 2, 1)

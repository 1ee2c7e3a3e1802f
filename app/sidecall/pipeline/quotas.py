"""Count the calls of each caller against a rate."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from sidecall.core.context import Caller
from sidecall.core.overload import QuotaExceeded
from sidecall.core.quota import Quota

_SECONDS: Mapping[str, int] = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_NANO = 1_000_000_000
# Callers that are remembered, those who called last; whoever is forgotten has all its calls again.
_MOST_CALLERS = 10_000


@dataclass(frozen=True, slots=True)
class Rate:
    """How many calls one caller may make in how many seconds."""

    calls: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a rate such as `100/minute`."""
        calls, _, unit = text.partition("/")
        return cls(int(calls), _SECONDS[unit])


class Quotas:
    """Let each caller make its calls as it likes, all at once too, and give them back one by one, evenly.

    This is GCRA, in whole nanoseconds: of a caller nothing is kept but the moment when all its calls are back.
    """

    def __init__(self, rate: Rate, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._rate = rate
        self._clock = clock
        self._share = rate.seconds * _NANO // rate.calls
        self._whole_at: OrderedDict[tuple[str, str], int] = OrderedDict()

    def take(self, caller: Caller) -> None:
        """Count one call.

        Raises:
            QuotaExceeded: The caller has none left; nothing is counted then.
        """
        key = caller.tenant, caller.subject
        now = self._clock()
        spent = self._spent(key, now)
        if spent > self._share * (self._rate.calls - 1):
            raise QuotaExceeded(self._quota(spent))
        self._whole_at[key] = now + spent + self._share
        self._whole_at.move_to_end(key)
        if len(self._whole_at) > _MOST_CALLERS:
            self._whole_at.popitem(last=False)

    def left(self, caller: Caller) -> Quota:
        """Return what a caller has left."""
        return self._quota(self._spent((caller.tenant, caller.subject), self._clock()))

    def _spent(self, key: tuple[str, str], now: int) -> int:
        return max(0, self._whole_at.get(key, now) - now)

    def _quota(self, spent: int) -> Quota:
        gone = -(-spent // self._share)
        more_in = -(-(spent - (gone - 1) * self._share) // _NANO) if gone else 0
        return Quota(self._rate.calls, self._rate.seconds, self._rate.calls - gone, more_in)

"""Rates and quotas: how many calls a caller may make in a time, and how many are left."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

from msgspec import Struct

_SECONDS: Mapping[str, int] = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_RATE = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour|day)")
NANO = 1_000_000_000
# The name of the quota of all calls.
CALLS = "calls"


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate: calls per number of seconds, for one caller."""

    calls: int
    seconds: int
    # Nanoseconds in which one call comes back.
    share: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Precompute the values by which calls are counted."""
        object.__setattr__(self, "share", self.seconds * NANO // self.calls)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a rate such as `100/minute`.

        Raises:
            ValueError: It is none.
        """
        found = _RATE.fullmatch(text)
        if found is None:
            raise ValueError("write calls per second, minute, hour or day, such as 100/minute")
        return cls(int(found[1]), _SECONDS[found[2]])


def check_rate(text: str) -> str:
    """Validate the text of a rate.

    Raises:
        ValueError: It is none.
    """
    Rate.parse(text)
    return text


class Quota(NamedTuple):
    """The quota of a caller: `left` of `most` calls in `seconds`; one more is available in `more_in` seconds.

    `name` says which calls: all, or those of one tool.
    """

    most: int
    seconds: int
    left: int
    more_in: int
    name: str = CALLS


class Lease(Struct, frozen=True):
    """A server's share of a rate that all servers share: its calls, and the nanoseconds until all are restored."""

    granted: int
    spent: int


class SharedCount(Protocol):
    """Counts the calls of each caller across all servers."""

    async def lease(self, key: str, rate: Rate, wanted: int) -> Lease:
        """Lease up to `wanted` calls of a key; none if none are left.

        Raises:
            StoreUnavailable: The count is unavailable.
        """

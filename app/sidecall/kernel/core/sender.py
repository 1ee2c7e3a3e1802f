"""The sender of a call: the program that waits for its answer, as far as it is known, and until when it waits."""

import time
from collections.abc import Collection, Hashable, Mapping
from typing import NamedTuple, Self

from msgspec import Struct, field

from sidecall.kernel.core.context import ANONYMOUS, Caller, Presence


class Deadline(NamedTuple):
    """The deadline of a waiting client: a moment on the monotonic clock, and the seconds that the client gave."""

    moment: float
    seconds: float

    @property
    def left(self) -> float:
        """The seconds until then, at least 0."""
        return max(0.0, self.moment - time.monotonic())

    @property
    def is_past(self) -> bool:
        """Whether the deadline has passed."""
        return self.moment <= time.monotonic()

    def to_clock(self) -> tuple[float, float]:
        """Return the deadline as (Unix time, seconds given), for processes whose monotonic clock differs."""
        return time.time() + self.moment - time.monotonic(), self.seconds

    @classmethod
    def from_clock(cls, due: tuple[float, float]) -> Self:
        """Read a deadline written by `to_clock`."""
        return cls(time.monotonic() + due[0] - time.time(), due[1])


def allow_seconds(seconds: float) -> Deadline:
    """Return the deadline this many seconds from now."""
    return Deadline(time.monotonic() + seconds, seconds)


class Sender(Struct, frozen=True):
    """Who sends a call, and what came with the request: the calls of one request have the same sender.

    Args:
        headers: Those of the request.
        caller: Who has authenticated.
        presence: Whether the client is still connected.
        deadline: Until when the client waits, which shortens the deadline of the tool.
        pinned: The contract hashes of the tool that the client knows; None where it did not say.
        holder: Against what its results count until they are released; None where they do while they are made.
        wants_value: Whether the client may read the result as a value, now or when the answer is fetched later.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    caller: Caller = ANONYMOUS
    presence: Presence | None = None
    deadline: Deadline | None = None
    pinned: Collection[str] | None = None
    holder: Hashable = None
    wants_value: bool = False


# A program that says nothing of itself.
UNKNOWN = Sender()

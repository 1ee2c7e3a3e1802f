"""The deadline of a waiting client."""

import time
from typing import NamedTuple, Self


class Deadline(NamedTuple):
    """A moment on the monotonic clock, and the seconds that the client gave."""

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

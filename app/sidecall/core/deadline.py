"""Until when a client waits for its answer."""

import time
from typing import NamedTuple


class Deadline(NamedTuple):
    """A moment on the monotonic clock, and the seconds that the client gave to get there."""

    moment: float
    seconds: float


def allow_seconds(seconds: float) -> Deadline:
    """Make the deadline of a client that waits so long from now."""
    return Deadline(time.monotonic() + seconds, seconds)

"""The remaining time of a call."""

import time

from sidecall.kernel.core.errors import ToolTimeout
from sidecall.kernel.core.invocation import Invocation


def seconds_left(invocation: Invocation) -> float | None:
    """Return the seconds until the deadline, at least 0; None without a deadline."""
    return None if invocation.deadline is None else max(0.0, invocation.deadline - time.monotonic())


def is_late(invocation: Invocation) -> bool:
    """Return whether the deadline has passed, as after code that blocked the event loop."""
    return invocation.deadline is not None and time.monotonic() > invocation.deadline


def make_timeout(invocation: Invocation) -> ToolTimeout:
    """Build the timeout failure of a call."""
    given = invocation.request.deadline
    if given is not None and given.moment == invocation.deadline:
        return ToolTimeout(invocation.tool.name, given.seconds)
    allowed = round(max(0.0, (invocation.deadline or 0.0) - invocation.started), 6)
    return ToolTimeout(invocation.tool.name, allowed)

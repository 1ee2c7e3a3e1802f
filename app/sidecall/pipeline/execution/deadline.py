"""How much time a call has left."""

import time

from sidecall.core.errors import ToolTimeout
from sidecall.core.invocation import Invocation


def seconds_left(invocation: Invocation) -> float | None:
    """Return the seconds until the deadline, never below zero; None when there is none."""
    return None if invocation.deadline is None else max(0.0, invocation.deadline - time.monotonic())


def make_timeout(invocation: Invocation) -> ToolTimeout:
    """Make the failure of a call whose deadline has passed."""
    # What a caller allows has begun to run before the call is accepted.
    digits = 6 if invocation.request.deadline is None else 3
    allowed = round(max(0.0, (invocation.deadline or 0.0) - invocation.started), digits)
    return ToolTimeout(invocation.tool.name, allowed)

"""The deadline of one request, across all of its steps."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import httpcore

_ENDS_AT: ContextVar[float] = ContextVar("sidecall_outgoing_ends_at", default=math.inf)


@contextmanager
def ending_at(moment: float) -> Iterator[None]:
    """Set the deadline for all steps in the body, on the monotonic clock."""
    token = _ENDS_AT.set(moment)
    try:
        yield
    finally:
        _ENDS_AT.reset(token)


def limit_wait(timeout: float | None) -> float | None:
    """Return the timeout of a step.

    Raises:
        httpcore.ReadTimeout: No time is left.
    """
    ends_at = _ENDS_AT.get()
    if ends_at == math.inf:
        return timeout
    left = ends_at - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the whole request took too long")
    return left if timeout is None else min(left, timeout)

"""Send a request until it is answered: what is retried, after what pause, and for how long."""

import math
import random
import time
from dataclasses import dataclass, replace
from typing import Any

import httpx

from sidecall.client.failures import RequestRefused, ServerUnreachable, make_misplaced, read_refusal
from sidecall.client.steps import Pausing, Sending, Steps

# Refused before anything ran, so that sending it again does nothing twice.
NOT_BEGUN = frozenset(
    "too-many-calls quota-exceeded budget-spent overloaded too-many-approvals too-many-jobs too-many-connections"
    " too-many-bytes issuer-unreachable".split()
)

# It is not followed: a POST would become a GET, or credentials would go to another server.
_ELSEWHERE = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True)
class Persistence:
    """How often to retry a request, and how long a server may make the client wait."""

    retries: int = 4
    longest: float = 60.0

    def delay(self, attempt: int, wanted: float | None) -> float | None:
        """Return the delay before the next attempt; None for no more attempts.

        The server's wish is respected; otherwise delays double, with jitter, so that clients do not return all at once.
        """
        if attempt >= self.retries or (wanted or 0) > self.longest:
            return None
        spread = 0.5 + random.random() / 2  # noqa: S311  nothing is kept secret by it
        backoff = min(0.25 * 2**attempt * spread, self.longest)
        return backoff if wanted is None else wanted + 0.1 * spread


class _TimeLimit:
    """The total time of a request and its retries; unlimited if none is given."""

    # What a server's own answer that the time is over may take on its way.
    GRACE = 2.0

    def __init__(self, seconds: float | None) -> None:
        # The server refuses what is no time.
        self._seconds = seconds if seconds is not None and seconds > 0 else None
        self._until = math.inf if self._seconds is None else time.monotonic() + self._seconds + self.GRACE

    def apply(self, request: Sending) -> Sending:
        """Limit a request to the time that is left."""
        left = self._until - time.monotonic()
        return replace(request, limit=None if self._seconds is None else max(left, 0.001))

    def passes_within(self, seconds: float) -> bool:
        """Return whether the limit is reached within so many seconds."""
        return time.monotonic() + seconds >= self._until

    def explain(self, lost: httpx.TransportError, request: Sending) -> ServerUnreachable:
        """Return the message about a lost request."""
        if isinstance(lost, httpx.TimeoutException) and self.passes_within(0):
            return ServerUnreachable(f"no answer came within {self._seconds:g} seconds")
        said = f"{request.method} {request.path}: {lost or type(lost).__name__}"
        if isinstance(lost, httpx.ConnectError | httpx.ConnectTimeout) and (server := _find_address(lost)) is not None:
            hint = "Start one with `sidecall serve`, or give its address, for instance in SIDECALL_URL."
            return ServerUnreachable(f"no server answers at {server} ({said}). {hint}")
        return ServerUnreachable(said)


def _find_address(lost: httpx.TransportError) -> str | None:
    """Return scheme, host and port of a lost request, without credentials; None if a transport does not tell it."""
    try:
        url = lost.request.url
    except RuntimeError:
        return None
    return f"{url.scheme}://{url.netloc.decode()}"


def send(request: Sending, persistence: Persistence) -> Steps[Any]:
    """Send a request until it is answered, retrying only where that is safe.

    Raises:
        RequestRefused: The answer is a problem that another attempt does not mend.
        ServerUnreachable: There is no answer.
    """
    limit = _TimeLimit(request.limit)
    attempt = -1
    while True:
        attempt += 1
        error: RequestRefused | ServerUnreachable
        try:
            answer = yield limit.apply(request)
        except httpx.TransportError as lost:
            error = limit.explain(lost, request)
            error.__cause__ = lost
            may_repeat = request.is_safe or isinstance(lost, httpx.ConnectError | httpx.ConnectTimeout)
            delay = persistence.delay(attempt, None) if may_repeat else None
        else:
            response: Any = getattr(answer, "response", answer)
            if response.is_success or response.status_code == httpx.codes.NOT_MODIFIED:
                return answer
            if response.status_code in _ELSEWHERE:
                raise make_misplaced(response, request.path)
            error = read_refusal(response, request.path)
            delay = persistence.delay(attempt, error.retry_after) if _may_repeat(request, error) else None
        if delay is None or limit.passes_within(delay):
            raise error
        yield Pausing(delay)


def _may_repeat(request: Sending, error: RequestRefused) -> bool:
    if error.status in (429, 503) and error.slug in NOT_BEGUN:
        return True
    return request.is_safe and error.status in (429, 502, 503, 504)

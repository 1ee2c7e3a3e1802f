"""Count the requests of an application, and log them where that is wanted."""

import logging
from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from sidecall.kernel.core.context import ANONYMOUS, Caller, cut_id

logger = logging.getLogger("sidecall")

# The label of requests without a route; paths from clients would be unbounded.
NO_ROUTE = "none"
# Polled every few seconds by orchestrators; logged only when refused.
_PROBES = frozenset(("/healthz", "/readyz"))

_REFUSED = 400


class AnsweredRequest(Struct, frozen=True):
    """A request whose answer begins.

    `route` is the template of its path, such as `/tools/{name}`; `problem` is the end of the answer's `type` for an
    error, and `detail` its text; `seconds` is the time since the request arrived.
    """

    method: str
    route: str
    status: int
    seconds: float
    problem: str | None = None
    detail: str = ""
    caller: Caller = ANONYMOUS


class RequestTally:
    """Count the requests of one application by their route and status, and log each where that is wanted."""

    def __init__(self, unread: Mapping[int, int]) -> None:
        """Begin with none; `unread` are those that the server refused itself, by status."""
        self.logs = False
        self.counts: dict[tuple[str, int], int] = {}
        self._unread = unread

    def read(self) -> dict[tuple[str, ...], float]:
        """Return the counts by route and status."""
        counts = Counter(dict(self.counts))  # In one step, since more are counted meanwhile.
        counts.update({(NO_ROUTE, status): count for status, count in self._unread.items()})
        return {(route, str(status)): count for (route, status), count in counts.items()}

    def log(self, request: AnsweredRequest) -> None:
        """Log one line for a request."""
        if request.route in _PROBES and request.status < _REFUSED:
            return
        keys = {
            "event": "request",
            "method": cut_id(request.method),
            "route": request.route,
            "status": request.status,
            "duration_ms": round(request.seconds * 1000, 3),
        }
        if request.problem is not None:
            keys |= {"problem": request.problem, "detail": cut_id(request.detail)}
        if request.caller is not ANONYMOUS:
            keys["caller"] = cut_id(request.caller.subject)
        said = f"{request.status} {request.problem or ''}".rstrip()
        logger.info("%s %s: %s", keys["method"], request.route, said, extra=keys)

"""Observe the status of each answered request."""

import re
import time
from collections.abc import Awaitable
from functools import cache

from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidecall.features.access.middleware import caller_of, path_of
from sidecall.features.telemetry.requests import NO_ROUTE, AnsweredRequest, RequestTally
from sidecall.kernel.http.problems import PROBLEM, UNHEARD

# Where it stands in the scope when the request came, where that is logged.
_BEGUN = "sidecall.begun"
# How routes say that a parameter is an id.
_ID = ":uuid}"
# Hot paths without parameters, which need no look at the routes.
_FIXED = frozenset(("/tool_calls", "/tool_calls/batch", "/tools", "/mcp", "/healthz", "/readyz"))


class Arrivals:
    """Records when each request arrives, for its log line."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        scope[_BEGUN] = time.monotonic()
        return self._app(scope, receive, send)


class Behind:
    """Observes the answers that come from behind the fast path."""

    def __init__(self, app: ASGIApp, watch: "RequestWatch") -> None:
        self._app = app
        self._watch = watch

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        return self._app(scope, receive, self._watch.follow(scope, send) if scope["type"] == "http" else send)


class RequestWatch:
    """Counts each request when its answer begins, and logs it if wanted.

    Each place that answers reports here: the fast path, refusals in front of it, and the framework behind it. A wrapper
    around all of them would cost time on every call.
    """

    def __init__(self, tally: RequestTally) -> None:
        self._tally = tally

    def note(self, scope: Scope, status: int) -> None:
        """Record the status with which a request is answered."""
        path = scope["path"]
        key = (path if path in _FIXED else find_route(scope), status)
        counts = self._tally.counts
        try:
            counts[key] += 1
        except KeyError:
            counts[key] = 1
        if self._tally.logs:
            self._log(scope, *key)

    def _log(self, scope: Scope, route: str, status: int) -> None:
        seconds = time.monotonic() - scope.get(_BEGUN, time.monotonic())
        problem, detail = scope.get(PROBLEM, (None, ""))
        self._tally.log(AnsweredRequest(scope["method"], route, status, seconds, problem, detail, caller_of(scope)))

    def follow(self, scope: Scope, send: Send) -> Send:
        """Return a `send` that records the status of its answer."""

        def send_on(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start" and UNHEARD not in scope:
                self.note(scope, message["status"])
            return send(message)

        return send_on


def find_route(scope: Scope) -> str:
    """Return the route template of a request's path, even if it was refused before routing."""
    path = path_of(scope)
    routes = [route for route in (scope["app"].routes if "app" in scope else ()) if hasattr(route, "path_regex")]
    # Not by the route itself, which may have to be loaded for that.
    found = next((route for route in routes if route.path_regex.match(path)), None)
    if found is None:  # An id that is none is not found either, and is one of that route.
        found = next((route for route in routes if _compile_for_any_id(route.path).match(path)), None)
    return NO_ROUTE if found is None else str(found.path_format)


@cache
def _compile_for_any_id(path: str) -> re.Pattern[str]:
    return compile_path(path.replace(_ID, "}"))[0]

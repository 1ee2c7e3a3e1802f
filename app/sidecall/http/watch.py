"""See with which status each request is answered, whoever answers it."""

import time
from collections.abc import Awaitable

from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidecall.auth.middleware import caller_of, path_of
from sidecall.http.exchange import WholeExchange
from sidecall.http.problems import PROBLEM
from sidecall.http.reply import Reply
from sidecall.telemetry.requests import NO_ROUTE, AnsweredRequest, RequestTally

# Where it stands in the scope when the request came, where that is logged.
_BEGUN = "sidecall.begun"


class RequestWatch:
    """Count each request once its answer begins; refusals in front of every route are among them."""

    def __init__(self, app: ASGIApp, tally: RequestTally) -> None:
        self._app = app
        self._tally = tally

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope["type"] == "http":
            if self._tally.logs:
                scope[_BEGUN] = time.monotonic()
            send = _WatchedExchange(scope, send, self._tally).send
        return self._app(scope, receive, send)


class _WatchedExchange(WholeExchange):
    """Sends the answer to a request on, and notes its status."""

    __slots__ = ("_scope", "_send", "_tally")

    def __init__(self, scope: Scope, send: Send, tally: RequestTally) -> None:
        self._scope = scope
        self._send = send
        self._tally = tally

    def answer(self, reply: Reply, request_id: bytes) -> bool:
        """Send an answer whole, where that can be done."""
        exchange = getattr(self._send, "__self__", None)
        if not isinstance(exchange, WholeExchange) or not exchange.answer(reply, request_id):
            return False
        self._note(reply.status)
        return True

    def send(self, message: Message) -> Awaitable[None]:
        """Send a message of ASGI."""
        if message["type"] == "http.response.start":
            self._note(message["status"])
        return self._send(message)

    def _note(self, status: int) -> None:
        path = self._scope["path"]
        key = (path if path in _FIXED else find_route(self._scope), status)
        counts = self._tally.counts
        try:
            counts[key] += 1
        except KeyError:
            counts[key] = 1
        if self._tally.logs:
            self._log(*key)

    def _log(self, route: str, status: int) -> None:
        scope = self._scope
        seconds = time.monotonic() - scope[_BEGUN]
        problem, detail = scope.get(PROBLEM, (None, ""))
        self._tally.log(AnsweredRequest(scope["method"], route, status, seconds, problem, detail, caller_of(scope)))


# Hot paths without parameters, which need no look at the routes.
_FIXED = frozenset(("/tool_calls", "/tool_calls/batch", "/tools", "/mcp", "/healthz", "/readyz"))


def find_route(scope: Scope) -> str:
    """Find the template of the path of a request, also where it was refused before a route was looked for."""
    taken = scope.get("route")
    if taken is not None:
        return str(taken.path)
    asked = {**scope, "path": path_of(scope), "root_path": ""}
    for route in scope["app"].routes if "app" in scope else ():
        if route.matches(asked)[0] is not Match.NONE:
            return str(route.path)
    return NO_ROUTE

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

_NO_EXCHANGE = WholeExchange()


class RequestWatch:
    """Count each request once its answer begins; refusals in front of every route are among them."""

    def __init__(self, app: ASGIApp, tally: RequestTally) -> None:
        self._app = app
        self._tally = tally

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope["type"] == "http":
            send = _WatchedExchange(scope, send, self._tally).send
        return self._app(scope, receive, send)


class _WatchedExchange(WholeExchange):
    """Sends the answer to a request on, and notes its status."""

    __slots__ = ("_begun", "_exchange", "_scope", "_send", "_tally")

    def __init__(self, scope: Scope, send: Send, tally: RequestTally) -> None:
        exchange = getattr(send, "__self__", None)
        self._exchange = exchange if isinstance(exchange, WholeExchange) else _NO_EXCHANGE
        self._scope = scope
        self._send = send
        self._tally = tally
        self._begun = time.monotonic() if tally.logs else 0.0

    def answer(self, reply: Reply, request_id: bytes) -> bool:
        """Send an answer whole, where that can be done."""
        if not self._exchange.answer(reply, request_id):
            return False
        self._note(reply.status)
        return True

    def send(self, message: Message) -> Awaitable[None]:
        """Send a message of ASGI."""
        if message["type"] == "http.response.start":
            self._note(message["status"])
        return self._send(message)

    def _note(self, status: int) -> None:
        scope, tally = self._scope, self._tally
        route = scope["path"] if scope["path"] in _FIXED else find_route(scope)
        tally.counts[route, status] += 1
        if tally.logs:
            seconds = time.monotonic() - self._begun
            problem, detail = scope.get(PROBLEM, (None, ""))
            tally.log(AnsweredRequest(scope["method"], route, status, seconds, problem, detail, caller_of(scope)))


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

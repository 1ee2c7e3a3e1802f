"""Serve hot requests in front of the framework.

Most of the cost of a short request is the framework's routing. The fast path takes only plain requests; all others go
on to the framework's routes. Its creator says which requests these are and how they are answered; both ways call the
same functions, and the same tests run against both.
"""

import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Protocol, cast

from msgspec import Struct, field
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidecall.http import problems
from sidecall.http.authentication import caller_of, path_of
from sidecall.http.problems import PROBLEM, UNHEARD
from sidecall.http.request_counts import NO_ROUTE, AnsweredRequest, RequestTally
from sidecall.http.request_id import NOSNIFF, header_of

# Where it stands in the scope when the request came, where that is logged.
_BEGUN = "sidecall.begun"
# How routes say that a parameter is an id.
_ID = ":uuid}"
# Hot paths without parameters, which need no look at the routes.
_FIXED = frozenset(("/tool_calls", "/tool_calls/batch", "/tools", "/mcp", "/healthz", "/readyz"))
# The others, of one tool.
_OF_TOOLS = "/tools/"
SHOWN, CALLED = f"{_OF_TOOLS}{{name}}", f"{_OF_TOOLS}{{name}}/call"


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
        self.tally = tally

    def note(self, scope: Scope, status: int, route: str | None = None) -> None:
        """Record the status with which a request is answered; its route is found out where it is not given."""
        if route is None:
            route = path if (path := scope["path"]) in _FIXED else find_route(scope)
        key = route, status
        counts = self.tally.counts
        try:
            counts[key] += 1
        except KeyError:
            counts[key] = 1
        if self.tally.logs:
            self._log(scope, *key)

    def _log(self, scope: Scope, route: str, status: int) -> None:
        seconds = time.monotonic() - scope.get(_BEGUN, time.monotonic())
        problem, detail = scope.get(PROBLEM, (None, ""))
        self.tally.log(AnsweredRequest(scope["method"], route, status, seconds, problem, detail, caller_of(scope)))

    def follow(self, scope: Scope, send: Send) -> Send:
        """Return a `send` that records the status of its answer."""
        return WatchedSend(self, scope, send)


class WatchedSend:
    """Sends on to another `send`, and records the status of its answer."""

    __slots__ = ("_scope", "_watch", "send")

    def __init__(self, watch: RequestWatch, scope: Scope, send: Send) -> None:
        self._watch = watch
        self._scope = scope
        self.send = send

    def __call__(self, message: Message) -> Awaitable[None]:
        """Send a message."""
        if message["type"] == "http.response.start":
            self.note(message["status"])
        return self.send(message)

    def note(self, status: int) -> None:
        """Record the status."""
        if UNHEARD not in self._scope:
            self._watch.note(self._scope, status)


def _find_route_of_tool(scope: Scope) -> str:
    """Return the route of a path that names one tool, and put the name where the framework puts it; "" for others."""
    path: str = scope["path"]
    name, _, rest = path.removeprefix(_OF_TOOLS).partition("/")
    if not path.startswith(_OF_TOOLS) or not name or rest not in ("", "call") or path.endswith("/"):
        return ""
    scope["path_params"] = {"name": name}
    return CALLED if rest else SHOWN


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


_NOT_MODIFIED = 304
# For answers that have none of their own, since to make an empty one takes longer than to write it.
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

_JSON = "application/json"
# Names of headers that are kept as they are sent; answers have few.
_NAMES = 256


class Reply(Struct):
    """The body of an answer, its status and its extra headers; may be sent many times."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = _JSON
    _raw: list[tuple[bytes, bytes]] | None = None

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """All headers in ASGI's form, those of the body included."""
        if self._raw is None:
            # Most answers have no headers of their own, so that what describes the body is all.
            described = [(b"content-length", b"%d" % len(self.body)), _write_type(self.media_type)]
            self._raw = [] if self.status == _NOT_MODIFIED else described
            for name, value in self.headers.items():
                self._raw.append((_write_name(name), value.encode("latin-1")))
        return self._raw

    def to_response(self) -> Response:
        """Build the response that a route returns."""
        media_type = None if self.status == _NOT_MODIFIED else self.media_type
        return Response(self.body, self.status, self.headers, media_type=media_type)


@lru_cache(_NAMES)
def _write_type(media_type: str) -> tuple[bytes, bytes]:
    return b"content-type", media_type.encode()


@lru_cache(_NAMES)
def _write_name(name: str) -> bytes:
    return name.lower().encode("latin-1")


class Rest(Struct, frozen=True):
    """Answers a request by itself, in messages; it may have begun."""

    app: ASGIApp


# Answers a request of one path, at once or later, or returns None for what has to go on to the framework. What is no
# Reply answers by itself, in messages.
Shortcut = Callable[[Scope, Receive], Reply | Rest | Awaitable[Reply | Response] | None]


class Way(Protocol):
    """Serves all requests of a path by itself."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request, behind the framework."""

    def begin(self, scope: Scope, receive: Receive) -> Reply | Rest:
        """Do so in front of it."""


NO_WAYS: Mapping[str, Way] = MappingProxyType({})


class FastPath:
    """Answers requests that have a shortcut, and passes the rest on.

    When the application is mounted in another one, the framework serves everything, since it knows the mount path.
    """

    def __init__(self, app: ASGIApp, watch: RequestWatch, shortcuts: Mapping[str, Shortcut]) -> None:
        """Wrap an application.

        Args:
            app: The framework.
            watch: Is told of what is answered here.
            shortcuts: What is answered here, by its path; of those that name a tool, by `SHOWN` and `CALLED`.
        """
        self._app = app
        self._watch = watch
        self._shortcuts = shortcuts

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request or one lifespan."""
        if scope["type"] == "http" and not scope.get("root_path"):
            route: str = scope["path"]
            shortcut = self._shortcuts.get(route)
            if shortcut is None and (route := _find_route_of_tool(scope)):
                shortcut = self._shortcuts.get(route)
            if shortcut is not None:
                try:
                    answer = shortcut(scope, receive)
                except Exception as error:
                    return _refuse(error, scope, receive, self._watch.follow(scope, send))
                if isinstance(answer, Reply):
                    self._watch.note(scope, answer.status, route)
                    return NOTHING if _is_sent(answer, scope, send) else _send(answer, scope, send)
                if isinstance(answer, Rest):
                    return answer.app(scope, receive, self._watch.follow(scope, send))
                if answer is not None:
                    return self._serve(answer, route, scope, receive, send)
        return self._app(scope, receive, send)

    async def _serve(
        self, answer: Awaitable[Reply | Response], route: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            reply = await answer
            if not isinstance(reply, Reply):
                await reply(scope, receive, self._watch.follow(scope, send))
                return
        except ClientDisconnect:
            return
        except Exception as error:
            await problems.refuse(scope, receive, self._watch.follow(scope, send), error)
            if problems.find_known(error) is None:
                raise
            return
        self._watch.note(scope, reply.status, route)
        if not _is_sent(reply, scope, send):
            await _send(reply, scope, send)


async def _refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    await problems.refuse(scope, receive, send, error)
    if problems.find_known(error) is None:
        try:
            raise error
        finally:
            del error  # Its traceback holds this frame, and would so hold itself.


def _is_sent(reply: Reply, scope: Scope, send: Send) -> bool:
    """Send an answer directly if the server supports that."""
    exchange = getattr(send, "__self__", None)
    return isinstance(exchange, DirectResponse) and exchange.answer(reply, scope["state"]["request_id"].encode())


class _Nothing(tuple[()]):
    """An awaitable that completes at once: it has no steps."""

    __slots__ = ()
    __await__ = tuple.__iter__


# Of a request that has its answer.
NOTHING: Awaitable[None] = _Nothing()  # type: ignore[assignment]  # an iterator that is at its end is enough


def send_reply(reply: Reply, scope: Scope, send: Send) -> Awaitable[None]:
    """Send an answer on one of the ways past the framework, directly if the server supports that."""
    if isinstance(send, WatchedSend) and _is_sent(reply, scope, send.send):
        send.note(reply.status)
        return NOTHING
    return _send(reply, scope, send)


def is_sent_in_chunks(headers: Iterable[tuple[bytes, bytes]], body: bytes, send: Send) -> bool:
    """Send a whole stream with status 200 directly if the server supports that, and return whether it was sent."""
    exchange = getattr(send.send, "__self__", None) if isinstance(send, WatchedSend) else None
    if not isinstance(exchange, DirectResponse) or not exchange.answer_in_chunks(headers, body):
        return False
    cast("WatchedSend", send).note(200)
    return True


def serve(came: Reply | Rest, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
    """Serve a request with what it has come to: send the answer, or go on."""
    return send_reply(came, scope, send) if isinstance(came, Reply) else came.app(scope, receive, send)


async def _send(reply: Reply, scope: Scope, send: Send) -> None:
    await send(_write_head(reply, scope))
    await send({"type": "http.response.body", "body": reply.body})


def _write_head(reply: Reply, scope: Scope) -> Message:
    return {
        "type": "http.response.start",
        "status": reply.status,
        "headers": [*reply.raw_headers, NOSNIFF, header_of(scope)],
    }


def take_body(receive: Receive) -> bytes | None:
    """Return the body of a request that has arrived completely; None where it must be received."""
    exchange = getattr(receive, "__self__", None)
    return exchange.take_body() if isinstance(exchange, DirectResponse) else None


class DirectResponse:
    """One request and its answer, as our own server hands them over.

    ASGI needs two messages for a request and two for an answer; each costs a coroutine and a dictionary. Our
    server's `receive` and `send` are methods of an exchange; code that gets them unwrapped may call the exchange
    directly.
    """

    __slots__ = ()

    def take_body(self) -> bytes | None:
        """Return the body if it has arrived completely, as `receive` would; else None, and it must be received."""
        return None

    def watch(self, gone: Callable[[], None] | None) -> bool:  # noqa: ARG002
        """Call `gone` when the client disconnects; None ends that. Return False if it has to be received.

        The body must have been read.
        """
        return False

    def answer(self, reply: Reply, request_id: bytes) -> bool:  # noqa: ARG002
        """Send a whole answer, as `send` would; return False if it must be sent in messages."""
        return False

    def answer_in_chunks(self, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bool:  # noqa: ARG002
        """Do so with an answer that does not say its length, such as a stream that has ended."""
        return False

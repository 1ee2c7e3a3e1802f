"""Take requests with a JSON body in front of the framework: read the body, and build the context once."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sidecall.http.authentication import CALLER, HEADERS
from sidecall.http.body import Bounds, is_plain, parse_body, read_body, read_plain, read_rest
from sidecall.http.context import BareHeaders, RequestContext, make_context
from sidecall.http.disconnect import DisconnectListener, DisconnectSweep
from sidecall.http.fast_path import Reply, Rest, Shortcut, serve, take_body
from sidecall.http.preferences import wants_events
from sidecall.kernel.core.context import ANONYMOUS
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.origin import CONVERSATION, PARENT
from sidecall.kernel.ports.workspaces import require_conversation

# With one of these a call is remembered, or refused.
REMEMBERING = frozenset((b"prefer", b"idempotency-key"))

# Answers a request whose body has come, and is within bounds.
WithBody = Callable[[Scope, Receive, RequestContext, bytes], Reply | Awaitable[Reply | Response]]


def without(headers: Collection[bytes], shortcut: Shortcut) -> Shortcut:
    """Leave requests with any of these headers to the framework."""
    left = frozenset(headers)

    def shortcut_without(scope: Scope, receive: Receive) -> Reply | Rest | Awaitable[Reply | Response] | None:
        return shortcut(scope, receive) if left.isdisjoint(scope[HEADERS]) else None

    return shortcut_without


def with_body(
    bounds: Bounds, sweep: DisconnectSweep, answer: WithBody, answer_events: WithBody | None = None
) -> Shortcut:
    """Make the shortcut for calls: a body of JSON within bounds, and nothing that changes how they are answered.

    Requests that want events are answered by `answer_events`; without it they are left to the framework.
    """
    # Bytes of a body that surely is within bounds.
    surely = bounds.most_unlooked_at

    def shortcut(scope: Scope, receive: Receive) -> Reply | Awaitable[Reply | Response] | None:
        headers = scope[HEADERS]
        if (
            scope["method"] != "POST"
            or scope["query_string"]
            or b"if-match" in headers
            or not is_plain(headers, len(scope["headers"]), bounds)
        ):
            return None
        chosen = answer
        accept = headers.get(b"accept")
        if accept is not None and accept.lower().find(b"event-stream") >= 0:
            if answer_events is None or not _asks_for_events(headers):
                return None
            chosen = answer_events
        body = take_body(receive)
        if body is None:
            return _receive_and_answer(chosen, bounds, sweep, scope, receive)
        if len(body) > surely:
            bounds.hold(body)
        return chosen(scope, receive, _begin_context(scope, receive, sweep), body)

    return shortcut


def _asks_for_events(headers: Mapping[bytes, bytes]) -> bool:
    return REMEMBERING.isdisjoint(headers) and wants_events(headers[b"accept"].decode("latin-1"))


async def _receive_and_answer(
    answer: WithBody, bounds: Bounds, sweep: DisconnectSweep, scope: Scope, receive: Receive
) -> Reply | Response:
    message = await receive()
    body = message.get("body", b"")
    if message.get("more_body", False) or message["type"] == "http.disconnect":
        body = await read_rest(message, receive)
    came = answer(scope, receive, _begin_context(scope, receive, sweep), bounds.hold(body))
    del message, body  # They may be large, and what was read of them may wait for long.
    return came if isinstance(came, Reply) else await came


# Answers a request by its parsed body, or by the error why that cannot be read.
WithJson = Callable[[Any, Scope, Receive], Reply | Rest]
# Answers a request by its body itself, if that has a usual form and no header came twice.
AtOnce = Callable[[bytes, Scope, Receive], Reply | Rest | None]


class JsonDoor:
    """Has requests with a JSON body answered, at once if it has arrived; a body that cannot be read is refused."""

    def __init__(self, bounds: Bounds, at_once: AtOnce, answer: WithJson, refuse: WithJson) -> None:
        """Answer requests.

        Args:
            bounds: How large a body may be.
            at_once: Answers those with a usual body, before it is parsed.
            answer: Answers the others by the parsed body.
            refuse: Answers by the error why that cannot be read.
        """
        self._bounds = bounds
        # Bytes of a body that surely is within bounds.
        self._surely = bounds.most_unlooked_at
        self._at_once = at_once
        self._answer = answer
        self._refuse = refuse

    def begin(self, scope: Scope, receive: Receive) -> Reply | Rest:
        """Answer a request, or return what goes on with it."""
        is_simple = is_plain(scope[HEADERS], len(scope["headers"]), self._bounds)
        body = take_body(receive) if is_simple else None
        if body is None:
            return Rest(partial(self._receive, is_simple))
        if len(body) > self._surely:
            return self._hold(body, scope, receive)
        came = self._at_once(body, scope, receive)
        return self._parse(body, scope, receive) if came is None else came

    def _hold(self, body: bytes, scope: Scope, receive: Receive) -> Reply | Rest:
        try:
            self._bounds.hold(body)
        except RequestError as error:
            return self._refuse(error, scope, receive)
        return self._parse(body, scope, receive)

    def _parse(self, body: bytes, scope: Scope, receive: Receive) -> Reply | Rest:
        """Answer a request by its body, which is within bounds."""
        try:
            sent = parse_body(body)
        except RequestError as error:
            return self._refuse(error, scope, receive)
        return self._answer(sent, scope, receive)

    async def _receive(self, is_simple: bool, scope: Scope, receive: Receive, send: Send) -> None:
        bounds = self._bounds
        came: Reply | Rest | None
        try:
            body = await (read_plain(receive, bounds) if is_simple else read_body(Request(scope, receive), bounds))
        except ClientDisconnect:
            return
        except RequestError as error:
            came = self._refuse(error, scope, receive)
        else:
            came = self._at_once(body, scope, receive) if is_simple else None
            came = self._parse(body, scope, receive) if came is None else came
            del body  # It may be large, and what was read of it may wait for long.
        await serve(came, scope, receive, send)


def _begin_context(scope: Scope, receive: Receive, sweep: DisconnectSweep) -> RequestContext:
    """Gather what the server knows of a request with a call.

    Raises:
        MissingContext: Its header names no conversation.
    """
    named = scope[HEADERS]
    if CONVERSATION not in named and PARENT not in named:  # As in most; spelled out, since every call passes here.
        caller, presence = scope.get(CALLER, ANONYMOUS), DisconnectListener(receive, sweep)
        return RequestContext(BareHeaders(scope["headers"]), caller, presence, holder=presence)
    context = make_context(scope, receive, sweep=sweep)
    if CONVERSATION in named:
        require_conversation(context.headers, {})
    return context

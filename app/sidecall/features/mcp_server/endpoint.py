"""Serve MCP over HTTP at one path: each message is a request (Streamable HTTP)."""

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from sidecall.features.mcp_server.calls import begin_call, fail, go_on
from sidecall.features.mcp_server.listing import ListChanges, ToolPages
from sidecall.features.mcp_server.parts import Exchange, McpParts
from sidecall.features.mcp_server.plain_calls import is_plain, make_request, read_plain_call, write_answer
from sidecall.features.mcp_server.revisions import (
    INTERNAL_ERROR,
    PARSE_ERROR,
    VERSION_KEY,
    RpcError,
    RpcMessage,
    is_modern,
    parse_message,
    refuse_repeated,
    write_error,
    write_result,
)
from sidecall.features.mcp_server.sessions import HEADER, RAW_HEADER, Session, Sessions
from sidecall.features.mcp_server.stdio import listen_legacy, listen_to_changes
from sidecall.features.mcp_server.streamable import TOO_SLOW, StreamableAnswer, answer_message
from sidecall.features.server_parts import Parts
from sidecall.http import problems
from sidecall.http.answer_headers import quota_headers
from sidecall.http.authentication import CALLER, HEADERS, caller_of
from sidecall.http.context import BareHeaders, RequestContext, make_context
from sidecall.http.disconnect import DisconnectListener, DisconnectSweep
from sidecall.http.fast_path import NO_HEADERS, Reply, Rest, send_reply, serve
from sidecall.http.plain_requests import JsonDoor
from sidecall.http.preferences import EVENTS, names_events, weigh
from sidecall.http.problems import DETAIL
from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.errors import MalformedJSON, RequestError
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.tool import CompiledTool

logger = logging.getLogger("sidecall")

_CALL = "tools/call"
_ACCEPTED = Reply(b"", 202)
_NOT_ALLOWED = Reply(b"", 405, {"Allow": "POST"})
_ENDED = Reply(b"", 204)
# LSP's code for a cancelled request, since MCP has none; its client does not wait for an answer.
_CANCELLED = RpcError(-32800, "The request was cancelled; it may have had effects.")
_ENDING = RpcError(503, DETAIL)
_FAILED = RpcError(INTERNAL_ERROR, "The server failed; its log has the details.", status=500)


class _Channel(NamedTuple):
    """The channel of a request and its answer."""

    scope: Scope
    receive: Receive
    send: Send


def open_endpoint(
    parts: Parts, changes: ListChanges, methods: Mapping[str, str], *, has_sessions: bool
) -> "McpEndpoint":
    """Make the endpoint of a server.

    Args:
        parts: The parts of the server.
        changes: Tells clients that there are other tools.
        methods: Those of features, as `package.module:function`.
        has_sessions: Whether clients of earlier revisions have sessions.
    """
    pages, sessions = ToolPages(parts.registry, parts.pipeline), Sessions() if has_sessions else None
    kept = (parts.registry, parts.pipeline, parts.approvals, parts.contents, pages, changes, parts.pipeline.results)
    made = McpParts(
        *kept,
        parts.bounds,
        parts.jobs,
        parts.lifecycle,
        parts.backlog,
        auditor=parts.auditor,
        sessions=sessions,
        methods=methods,
    )
    return McpEndpoint(made)


class McpEndpoint:
    """Answer every request of one path, before or behind the framework."""

    def __init__(self, parts: McpParts) -> None:
        self.parts = parts
        self._sweep = DisconnectSweep()
        # Those that are known to be plain, by name, until others are called so.
        self._plain: dict[str, CompiledTool] = {}
        self._post = JsonDoor(parts.bounds, self._begin_plain, self._begin, _refuse_unread)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        return serve(self.begin(scope, receive), scope, receive, send)

    def begin(self, scope: Scope, receive: Receive) -> Reply | Rest:
        """Answer one request at once, or return what goes on with it."""
        return self._post.begin(scope, receive) if scope["method"] == "POST" else Rest(self._serve_session)

    async def _serve_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve further requests of earlier revisions: listening for changes, and ending a session."""
        try:
            session = self._find_session(scope)
        except RpcError as error:
            await send_reply(_refuse(error), scope, send)
            return
        if scope["method"] == "GET" and self.parts.changes.is_fed and names_events(_read_accept(scope)):
            with self._use(session):
                await listen_legacy(self.parts, scope, receive, send)
        elif scope["method"] == "DELETE" and session is not None and self.parts.sessions is not None:
            self.parts.sessions.end(scope[HEADERS][RAW_HEADER], caller_of(scope))
            await send_reply(_ENDED, scope, send)
        else:
            await send_reply(_NOT_ALLOWED, scope, send)

    def _find_session(self, scope: Scope) -> Session | None:
        """Find the session of a request, if it names one.

        Raises:
            RpcError: The caller has no such session.
        """
        named = scope[HEADERS].get(RAW_HEADER)
        if named is None or self.parts.sessions is None:
            return None
        return self.parts.sessions.find(named, caller_of(scope))

    def _use(
        self, session: Session | None, message: RpcMessage | None = None, live: StreamableAnswer | None = None
    ) -> AbstractContextManager[None]:
        """Keep a session, if any, during a request, so that its client can cancel it."""
        if session is None or self.parts.sessions is None:
            return nullcontext()
        if message is None or live is None:
            return self.parts.sessions.use(session)
        return self.parts.sessions.use(session, message.id, live.cancel)

    def _begin_plain(self, body: bytes, scope: Scope, receive: Receive) -> Reply | Rest | None:
        """Answer a call of a tool in its usual form; None for all else."""
        parts = self.parts
        said = read_plain_call(body, scope[HEADERS])
        if said is None:
            return None
        tool = parts.registry.get(said.params.name)
        if tool is None or (self._plain.get(tool.name) is not tool and not self._look_at(tool)):
            return None
        caller, presence = scope.get(CALLER, ANONYMOUS), DisconnectListener(receive, self._sweep)
        context = RequestContext(BareHeaders(scope["headers"]), caller, presence, holder=presence, wants_value=True)
        came: ToolMessage | Awaitable[ToolMessage]
        try:
            came = parts.pipeline.begin(make_request(said, context), tool)
        except BaseException as error:
            came = fail(error)
        written = write_answer(said, tool, came) if isinstance(came, ToolMessage) else None
        if written is None:
            return self._go_on_plain(said.to_message(), tool, context, came, scope)
        if parts.results.shares:
            parts.results.release(presence)
        return Reply(written, 200, self._find_headers(tool.name, caller))

    def _look_at(self, tool: CompiledTool) -> bool:
        if is_plain(tool):
            self._plain[tool.name] = tool
            return True
        return False

    def _go_on_plain(
        self,
        message: RpcMessage,
        tool: CompiledTool,
        context: RequestContext,
        came: ToolMessage | Awaitable[ToolMessage],
        scope: Scope,
    ) -> Rest:
        exchange = _make_exchange(context, VERSION_KEY in message.meta, scope)
        begun = go_on(self.parts, message, exchange, tool, came)
        return Rest(partial(self._go_on, message, context, exchange, begun, None))

    def _begin(self, sent: Any, scope: Scope, receive: Receive) -> Reply | Rest:
        """Answer a message at once, or return what goes on with it."""
        message: RpcMessage | None = None
        session: Session | None = None
        try:
            message = parse_message(sent)
            _refuse_repeated(scope)
            modern = is_modern(message, scope[HEADERS])
            session = None if modern else self._find_session(scope)
        except RpcError as error:
            return _refuse(error, message)
        if message.id is None:
            # Without a session a notification could be about nothing: closing a connection cancels.
            if session is not None and message.method == "notifications/cancelled":
                session.cancel(message.params.get("requestId"))
            return _ACCEPTED
        if modern and message.method == "subscriptions/listen":
            return Rest(partial(listen_to_changes, self.parts, message))
        return self._begin_answer(message, modern, session, scope, receive)

    def _begin_answer(
        self, message: RpcMessage, modern: bool, session: Session | None, scope: Scope, receive: Receive
    ) -> Reply | Rest:
        context = make_context(scope, receive, sweep=self._sweep)
        exchange = _make_exchange(context, modern, scope)
        begun: Awaitable[bytes] | None = None
        # A call that may tell of its progress needs its stream first.
        if message.method == _CALL and "progressToken" not in message.meta:
            came = begin_call(self.parts, message, exchange)
            if isinstance(came, bytes):
                return self._write_reply(message, exchange, came)
            begun = came
        return Rest(partial(self._go_on, message, context, exchange, begun, session))

    def _go_on(
        self,
        message: RpcMessage,
        context: RequestContext,
        exchange: Exchange,
        begun: Awaitable[bytes] | None,
        session: Session | None,
        *way: Any,
    ) -> Awaitable[None]:
        channel = _Channel(*way)
        live = StreamableAnswer(channel.scope, channel.send, self.parts.backlog)
        work = self._answer(message, live, context, exchange, begun, channel)
        return work if session is None else self._answer_in(session, message, live, work)

    async def _answer_in(
        self, session: Session, message: RpcMessage, live: StreamableAnswer, work: Coroutine[Any, Any, None]
    ) -> None:
        with self._use(session, message, live):
            await work

    async def _answer(
        self,
        message: RpcMessage,
        live: StreamableAnswer,
        context: RequestContext,
        exchange: Exchange,
        begun: Awaitable[bytes] | None,
        way: _Channel,
    ) -> None:
        scope, _, send = way
        live.request_id = message.id
        live.may_begin = _takes_events(_read_accept(scope))
        exchange.tell = live.make_listener if live.may_begin else None
        try:
            is_done, came = context.begin_while_present(live.over(self._make_reply(message, exchange, begun)))
            reply: Reply = came if is_done else await came
            if live.has_begun:
                await live.end(reply.body)
            else:
                await send_reply(reply, scope, send)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            if not await self._break_off(live, message, exchange.is_modern, way):
                raise
        except Exception:
            if live.has_begun:  # Its status cannot be changed any more.
                await live.end(write_error(message.id, _FAILED))
            raise
        finally:
            live.close()

    async def _make_reply(self, message: RpcMessage, exchange: Exchange, begun: Awaitable[bytes] | None) -> Reply:
        try:
            result = await answer_message(self.parts, message, exchange, begun)
        except RpcError as error:
            return _refuse(error, message, is_modern=exchange.is_modern)
        return self._write_reply(message, exchange, result)

    def _write_reply(self, message: RpcMessage, exchange: Exchange, result: bytes) -> Reply:
        headers = self._find_headers(message.tool_name, exchange.caller)
        if message.method == "initialize" and self.parts.sessions is not None:
            session_id = self.parts.sessions.begin(exchange.caller)
            headers = headers if session_id is None else {**headers, HEADER: session_id}
        return Reply(write_result(message.id, result), 200, headers)

    def _find_headers(self, name: str | None, caller: Caller) -> Mapping[str, str]:
        """Return the headers that say how many calls are left."""
        gate = self.parts.pipeline.gate
        if not (gate.has_rate or self.parts.registry.has_rates):
            return NO_HEADERS
        tool = None if name is None else self.parts.registry.get(name)
        return quota_headers(gate.quotas_of(caller, name)) if gate.counts(tool) else NO_HEADERS

    async def _break_off(self, live: StreamableAnswer, message: RpcMessage, modern: bool, way: _Channel) -> bool:
        """End an answer that was cancelled, whose reader was too slow, or whose server is stopping.

        A stream ends with the error, since its status is already sent; return whether it was a stream.
        """
        is_draining = self.parts.lifecycle.is_draining
        error = _CANCELLED if live.is_cancelled else TOO_SLOW if live.is_cut else _ENDING if is_draining else _FAILED
        is_ours = (live.is_cancelled or live.is_cut) and live.was_ours()
        if live.has_begun:
            await live.end(write_error(message.id, error))
        elif is_ours:
            await send_reply(_refuse(error, message, is_modern=modern), way.scope, way.send)
        return is_ours


def _make_exchange(context: RequestContext, modern: bool, scope: Scope) -> Exchange:
    return Exchange(
        *(context.caller, context.headers, modern, context.presence, context.presence),
        find_url=partial(_find_url, scope),
        sent=scope[HEADERS] if modern else None,
    )


def _refuse_unread(error: RequestError, _scope: Scope, _receive: Receive) -> Reply | Rest:
    """Refuse a body that is no JSON in the words of JSON-RPC, and others as everywhere."""
    if isinstance(error, MalformedJSON):
        return _refuse(RpcError(PARSE_ERROR, error.message, status=400))
    return Rest(partial(problems.refuse, error=error))


def _refuse_repeated(scope: Scope) -> None:
    if len(scope[HEADERS]) != len(scope["headers"]):  # Some header came twice.
        refuse_repeated(scope["headers"])


def _read_accept(scope: Scope) -> str:
    headers = scope[HEADERS]
    if len(headers) == len(scope["headers"]):
        sent: bytes = headers.get(b"accept", b"")
        return sent.decode("latin-1")
    return ",".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"accept")


# Programs send few different ones.
@lru_cache(64)
def _takes_events(accept: str) -> bool:
    return weigh(accept, EVENTS) > 0


def _refuse(error: RpcError, message: RpcMessage | None = None, *, is_modern: bool = True) -> Reply:
    # Clients of earlier revisions take any other status as the end of their session.
    status = error.status if is_modern else 200
    return Reply(write_error(None if message is None else message.id, error), status, error.headers)


def _find_url(scope: Scope) -> str | None:
    host = scope[HEADERS].get(b"host")
    return None if host is None else f"{scope['scheme']}://{host.decode('latin-1')}{scope.get('root_path', '')}"

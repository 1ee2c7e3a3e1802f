"""Serve MCP over HTTP, at one path: each message is a request of its own (Streamable HTTP)."""

import asyncio
import logging
from collections.abc import Awaitable

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from sidecall.auth.passes import HEADERS
from sidecall.core.errors import MalformedJSON, RequestError
from sidecall.http import problems
from sidecall.http.body import is_plain, parse_body, read_body, read_plain
from sidecall.http.context import make_context
from sidecall.http.quota import quota_headers
from sidecall.http.reply import Reply
from sidecall.http.request_id import NOSNIFF, header_of
from sidecall.http.shutdown import DETAIL
from sidecall.mcp.exchange import Exchange
from sidecall.mcp.listening import listen_as_before, listen_to_changes
from sidecall.mcp.live import LiveAnswer
from sidecall.mcp.methods import answer_message
from sidecall.mcp.parts import McpParts
from sidecall.mcp.revisions import is_modern, refuse_repeated
from sidecall.mcp.wire import PARSE_ERROR, RpcError, RpcMessage, parse_message, write_error, write_result

logger = logging.getLogger("sidecall")

_ACCEPTED = Reply(b"", 202)
_NOT_ALLOWED = Reply(b"", 405, {"Allow": "POST"})


class McpEndpoint:
    """Answer every request of one path, in front of the framework or behind it."""

    def __init__(self, parts: McpParts) -> None:
        self._parts = parts

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope["method"] == "POST":
            return self._serve(scope, receive, send)
        if scope["method"] == "GET" and self._parts.changes.is_fed and _wants_stream(scope):
            return listen_as_before(self._parts, scope, receive, send)
        return _send(_NOT_ALLOWED, scope, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        message: RpcMessage | None = None
        try:
            message = await self._read(scope, receive)
            refuse_repeated(scope["headers"])
            modern = is_modern(message, scope[HEADERS])
        except ClientDisconnect:
            return
        except RpcError as error:
            await _send(_refuse(error, message), scope, send)
            return
        except RequestError as error:
            await problems.refuse(scope, receive, send, error)
            return
        if not message.is_request:
            # Nothing is kept between two requests that a notification could be about: closing a connection cancels.
            await _send(_ACCEPTED, scope, send)
        elif modern and message.method == "subscriptions/listen":
            await listen_to_changes(self._parts, message, scope, receive, send)
        else:
            await self._answer(message, modern, scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive) -> RpcMessage:
        bounds = self._parts.bounds
        if is_plain(scope[HEADERS], bounds):
            body = await read_plain(receive, bounds)
        else:
            body = await read_body(Request(scope, receive), bounds)
        try:
            return parse_message(parse_body(body))
        except MalformedJSON as error:
            raise RpcError(PARSE_ERROR, error.message, status=400) from None

    async def _answer(self, message: RpcMessage, modern: bool, scope: Scope, receive: Receive, send: Send) -> None:
        live = LiveAnswer(scope, send, self._parts.backlog)
        live.request_id = message.id
        context = make_context(scope, receive)
        exchange = Exchange(
            context.caller,
            context.headers,
            modern,
            context.presence,
            holder=context.presence,
            tell=live.make_listener,
            url=_find_url(scope),
            sent=scope[HEADERS] if modern else None,
        )
        try:
            reply = await context.while_present(live.over(self._make_reply(message, exchange)))
            if live.has_begun:
                await live.end(reply.body)
            else:
                await _send(reply, scope, send)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            if not await self._break_off(live, message):
                raise
        finally:
            live.close()

    async def _make_reply(self, message: RpcMessage, exchange: Exchange) -> Reply:
        try:
            result = await answer_message(self._parts, message, exchange)
        except RpcError as error:
            return _refuse(error, message, is_modern=exchange.is_modern)
        quotas = self._parts.pipeline.gate.quotas_of(exchange.caller, message.tool_name)
        return Reply(write_result(message.id, result), 200, quota_headers(quotas))

    async def _break_off(self, live: LiveAnswer, message: RpcMessage) -> bool:
        """End a stream whose reader was too slow, which was our own doing, or whose server ends."""
        task = asyncio.current_task()
        if live.is_cut and task is not None and task.uncancel() == 0:
            if live.has_begun:
                await live.end()
            return True
        if live.has_begun and self._parts.lifecycle.is_draining:
            await live.end(write_error(message.id, RpcError(503, DETAIL)))
        return False


def _wants_stream(scope: Scope) -> bool:
    return b"text/event-stream" in scope[HEADERS].get(b"accept", b"").lower()


def _refuse(error: RpcError, message: RpcMessage | None = None, *, is_modern: bool = True) -> Reply:
    # Clients of the earlier revisions take any other status for the end of their session.
    status = error.status if is_modern else 200
    return Reply(write_error(None if message is None else message.id, error), status, error.headers)


def _find_url(scope: Scope) -> str | None:
    host = scope[HEADERS].get(b"host")
    return None if host is None else f"{scope['scheme']}://{host.decode('latin-1')}{scope.get('root_path', '')}"


async def _send(reply: Reply, scope: Scope, send: Send) -> None:
    headers = [*reply.raw_headers, NOSNIFF, header_of(scope)]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})

"""Turn an answer into an event stream when there is something to send before its end."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from pydantic_core import to_json
from starlette.types import Scope, Send
from typing_extensions import TypeIs

from sidecall.features.mcp_server.calls import call_tool
from sidecall.features.mcp_server.parts import Exchange, McpParts, RpcMethod, make_list_method
from sidecall.features.mcp_server.revisions import (
    HANDSHAKE,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    SERVER,
    SUPPORTED,
    Id,
    RpcError,
    RpcMessage,
    hint_caching,
    make_complete,
    write_error,
    write_notification,
)
from sidecall.http.answer_headers import quota_headers
from sidecall.http.backlog import Backlog
from sidecall.http.problems import find_known, find_status
from sidecall.http.request_id import NOSNIFF, header_of
from sidecall.http.server_sent_events import KEEP_ALIVE, MEDIA_TYPE, Events, write_event
from sidecall.kernel.concurrency.coroutines import await_rest, cancel_from_outside
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.overload import Overloaded

T = TypeVar("T")

# About as long as a progress message.
_SIZE = 256

# The status for REST clients that read too slowly.
TOO_SLOW = RpcError(
    503, "The events were not read in time, so the call was cancelled; it may have had effects.", status=503
)


def head_of_stream(scope: Scope) -> dict[str, Any]:
    """Make the head of an answer that is a stream."""
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"cache-control", b"no-cache"),
        (b"x-accel-buffering", b"no"),
        NOSNIFF,
        header_of(scope),
    ]
    return {"type": "http.response.start", "status": 200, "headers": headers}


class StreamableAnswer:
    """The answer to one request: JSON if it comes soon and without progress, otherwise a stream.

    A stream begins with the first progress event, or after so much silence that proxies would close the connection.
    """

    def __init__(self, scope: Scope, send: Send, backlog: Backlog) -> None:
        self._scope = scope
        self._send = send
        self._backlog = backlog
        self._task: asyncio.Task[Any] | None = None
        self._events: Events | None = None
        self._writer: asyncio.Task[None] | None = None
        self.request_id: Id | None = None
        self.may_begin = True  # Unless the client reads no streams.
        self.is_cut = False
        self.is_cancelled = False

    @property
    def has_begun(self) -> bool:
        """Whether the answer is a stream."""
        return self._writer is not None

    async def over(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work of the answer; work that never waits needs no stream."""
        try:
            awaited = work.send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        self._task = asyncio.current_task()
        timer = asyncio.get_running_loop().call_later(KEEP_ALIVE, self._begin)
        try:
            return await await_rest(work, awaited)
        finally:
            timer.cancel()
            self._task = None

    def make_listener(self, token: str | int) -> EventListener:
        """Make what tells the client of progress, and so makes this a stream."""
        events, loop = self._open(), asyncio.get_running_loop()

        def pass_on(write: Callable[[], bytes]) -> None:
            events.pass_on(lambda: write_event("message", write()), _SIZE)
            loop.call_soon_threadsafe(self._begin)

        return make_progress_listener(token, pass_on)

    def _open(self) -> Events:
        if self._events is None:
            self._events = Events(self._backlog, self._cut)
        return self._events

    def _begin(self) -> None:
        if self.may_begin and self._writer is None and not self.is_cut and self._task is not None:
            self._writer = asyncio.ensure_future(self._write(self._open()))

    async def _write(self, events: Events) -> None:
        await self._send(head_of_stream(self._scope))
        async for piece in events:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    def _cut(self) -> bytes:
        """Stop the work for a reader that is too slow, and return its error."""
        self.is_cut = True
        if self._task is not None:
            cancel_from_outside(self._task)
        return write_error(self.request_id, TOO_SLOW)

    def cancel(self) -> None:
        """Cancel the work on the client's request; work that never waits ends by itself."""
        if self._task is not None:
            self.is_cancelled = True
            cancel_from_outside(self._task)

    @staticmethod
    def was_ours() -> bool:
        """Return whether the task was cancelled by us alone, so that it continues."""
        task = asyncio.current_task()
        return task is not None and task.uncancel() == 0

    async def end(self, body: bytes | None = None) -> None:
        """End the stream, with this message."""
        assert self._events is not None
        assert self._writer is not None
        if body is not None:
            self._events.answer("message", body)
        if not self.is_cut:
            self._events.end()
        await self._writer

    def close(self) -> None:
        """Send nothing more."""
        if self._writer is not None:
            self._writer.cancel()
        if self._events is not None:
            self._events.close()


logger = logging.getLogger("sidecall")


async def answer_message(
    parts: McpParts, message: RpcMessage, exchange: Exchange, begun: Awaitable[bytes] | None = None
) -> bytes:
    """Return the result of a request, as JSON; `begun` is where its work has begun already.

    Raises:
        RpcError: It has none.
    """
    try:
        return await (_find_method(parts, message, exchange)(parts, message, exchange) if begun is None else begun)
    except RequestError as error:
        error.quotas = error.quotas or parts.pipeline.gate.quotas_of(exchange.caller, message.tool_name)
        raise format_refusal(error) from error
    except RpcError:
        raise
    except Exception as error:
        known = find_known(error)
        if known is not None:
            raise format_refusal(known) from error
        if isinstance(error, OSError):
            raise
        logger.error("%s failed", message.method, exc_info=error)
        raise RpcError(INTERNAL_ERROR, "The server failed; its log has the details.", status=500) from None


def _find_method(parts: McpParts, message: RpcMessage, exchange: Exchange) -> RpcMethod:
    method = (_MODERN if exchange.is_modern else _HANDSHAKE).get(message.method) or parts.find_method(message.method)
    if method is None:
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {message.method[:100]}", status=404)
    return method


def format_refusal(error: RequestError) -> RpcError:
    """Make the JSON-RPC error for a problem; its code is the HTTP status over REST."""
    status, slug = find_status(error)
    told = {"type": f"urn:sidecall:problem:{slug}", **error.members}
    refusal = RpcError(status, error.message, told, status=status)
    refusal.headers.update(quota_headers(error.quotas))
    if isinstance(error, Overloaded):
        refusal.headers["Retry-After"] = str(error.retry_after)
    return refusal


def _describe_capabilities(parts: McpParts) -> dict[str, Any]:
    resources: dict[str, Any] = {"resources": {}} if "resources/list" in parts.methods else {}
    return {"tools": {"listChanged": parts.changes.is_fed}, **resources, "prompts": {}}


async def _discover(parts: McpParts, _message: RpcMessage, _exchange: Exchange) -> bytes:
    said = {"supportedVersions": list(SUPPORTED), "capabilities": _describe_capabilities(parts)}
    return to_json(make_complete(said | hint_caching(is_public=True)))


async def _initialize(parts: McpParts, message: RpcMessage, _exchange: Exchange) -> bytes:
    wanted = message.params.get("protocolVersion")
    spoken = wanted if wanted in HANDSHAKE else HANDSHAKE[-1]
    return to_json({"protocolVersion": spoken, "capabilities": _describe_capabilities(parts), "serverInfo": SERVER})


async def _ping(_parts: McpParts, _message: RpcMessage, _exchange: Exchange) -> bytes:
    return b"{}"


async def _list_tools(parts: McpParts, message: RpcMessage, exchange: Exchange) -> bytes:
    return await parts.pages.find(exchange.caller, message.params.get("cursor"))


async def _refuse_prompt(_parts: McpParts, _message: RpcMessage, _exchange: Exchange) -> bytes:
    raise RpcError(INVALID_PARAMS, "There is no such prompt: this server has none.")


_COMMON: Mapping[str, RpcMethod] = {
    "tools/list": _list_tools,
    "tools/call": call_tool,
    "prompts/list": make_list_method("prompts"),
    "prompts/get": _refuse_prompt,
}

_MODERN: Mapping[str, RpcMethod] = {**_COMMON, "server/discover": _discover}

_HANDSHAKE: Mapping[str, RpcMethod] = {**_COMMON, "initialize": _initialize, "ping": _ping}


# Schedules a message, from any thread.
PassOn = Callable[[Callable[[], bytes]], None]


def make_progress_listener(token: Id, pass_on: PassOn) -> EventListener:
    """Make a listener that sends progress under the client's token; values that do not increase are skipped."""
    reached = -math.inf

    def listen(kind: str, _call_id: str, said: Mapping[str, Any]) -> None:
        nonlocal reached
        done, total, text = said.get("done"), said.get("total"), said.get("message")
        if kind != "progress" or not _is_number(done) or done <= reached:
            return
        reached = done
        params: dict[str, Any] = {"progressToken": token, "progress": done}
        if _is_number(total):
            params["total"] = total
        if isinstance(text, str) and text:
            params["message"] = text
        pass_on(lambda: write_notification("notifications/progress", params))

    return listen


def _is_number(value: Any) -> TypeIs[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

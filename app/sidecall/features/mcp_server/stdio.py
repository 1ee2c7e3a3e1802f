"""Serve MCP to the client that started this process: a message a line, over two pipes (stdio)."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any, BinaryIO

from pydantic_core import to_json
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from sidecall.features.mcp_server.parts import Exchange, McpParts
from sidecall.features.mcp_server.revisions import (
    INVALID_REQUEST,
    META,
    PARSE_ERROR,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    Id,
    RpcError,
    RpcMessage,
    parse_message,
    require_envelope,
    require_known_version,
    write_error,
    write_notification,
    write_result,
)
from sidecall.features.mcp_server.streamable import answer_message, head_of_stream, make_progress_listener
from sidecall.http.body import parse_body
from sidecall.http.disconnect import DisconnectListener
from sidecall.http.server_sent_events import STILL_WORKING, write_event
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.errors import BodyTooLarge, MalformedJSON

logger = logging.getLogger("sidecall")


class PipeServer:
    """Answer the messages of one client, many at a time, until it closes its end."""

    def __init__(self, parts: McpParts, source: BinaryIO, sink: BinaryIO) -> None:
        """Connect the methods to a pair of pipes.

        Args:
            parts: The parts that the methods use.
            source: The source of messages.
            sink: The exclusive output for answers.
        """
        self._parts = parts
        self._source = source
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._running: dict[Id, asyncio.Task[None]] = {}
        self._unasked: asyncio.Task[None] | None = None

    async def serve(self) -> None:
        """Serve until the client closes its end; running calls are then cancelled."""
        # In a thread that is abandoned in the middle of a line, since reading from a pipe cannot be cancelled.
        threading.Thread(target=self._read, name="sidecall-mcp", daemon=True).start()
        try:
            while (line := await self._lines.get()) is not None:
                if line.strip():
                    self._take(line)
        finally:
            tasks = [*self._running.values(), *([] if self._unasked is None else [self._unasked])]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _read(self) -> None:
        longest = self._parts.bounds.size + 1
        try:
            while line := self._source.readline(longest):
                piece = line
                while len(piece) == longest and not piece.endswith(b"\n"):
                    piece = self._source.readline(longest)  # The rest of an overlong line is discarded.
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
        except (RuntimeError, ValueError):  # The loop has ended, or the pipe was closed here.
            return

    def _take(self, line: bytes) -> None:
        try:
            message = parse_message(self._parse(line))
        except RpcError as error:
            self._write(write_error(None, error))
            return
        if message.id is None:
            self._receive(message)
        elif message.id in self._running:
            self._write(write_error(message.id, RpcError(INVALID_REQUEST, "This id is that of a running request.")))
        else:
            task = self._loop.create_task(self._answer(message, message.id))
            self._running[message.id] = task
            task.add_done_callback(partial(self._forget, message.id))

    def _forget(self, call_id: Id, _task: asyncio.Task[None]) -> None:
        del self._running[call_id]

    def _parse(self, line: bytes) -> Any:
        bounds = self._parts.bounds
        try:
            if len(line) > bounds.size:
                raise BodyTooLarge(f"The message is larger than the {bounds.size} bytes that this server takes.")
            return parse_body(bounds.hold(line))
        except (BodyTooLarge, MalformedJSON) as error:
            raise RpcError(PARSE_ERROR, error.message) from None

    def _receive(self, message: RpcMessage) -> None:
        if message.method == "notifications/cancelled":
            call_id = message.params.get("requestId")
            if isinstance(call_id, str | int) and (task := self._running.get(call_id)) is not None:
                task.cancel()
        elif message.method == "notifications/initialized" and self._parts.changes.is_fed and self._unasked is None:
            self._unasked = self._loop.create_task(self._send_notifications())

    async def _answer(self, message: RpcMessage, call_id: Id) -> None:
        try:
            is_modern = VERSION_KEY in message.meta
            if is_modern:
                require_envelope(message)
                require_known_version(message)
                if message.method == "subscriptions/listen":
                    await self._send_changes(message)
                    return
            exchange = Exchange(is_modern=is_modern, holder=message, tell=self._make_listener)
            body = write_result(call_id, await answer_message(self._parts, message, exchange))
        except RpcError as error:
            body = write_error(call_id, error)
        self._write(body)

    async def _send_changes(self, message: RpcMessage) -> None:
        async with aclosing(write_changes(self._parts, message)) as messages:
            async for each in messages:
                if each is not None:
                    self._write(each)

    async def _send_notifications(self) -> None:
        async with aclosing(write_notifications(self._parts)) as messages:
            async for each in messages:
                if each is not None:
                    self._write(each)

    def _make_listener(self, token: Id) -> EventListener:
        def pass_on(write: Callable[[], bytes]) -> None:
            self._loop.call_soon_threadsafe(self._write, write())

        return make_progress_listener(token, pass_on)

    def _write(self, body: bytes) -> None:
        """Write a line; a client that does not read blocks only itself."""
        try:
            self._sink.write(body + b"\n")
            self._sink.flush()
        except OSError:
            self._lines.put_nowait(None)  # It has gone.


_CHANGED = "notifications/tools/list_changed"

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


async def listen_to_changes(parts: McpParts, message: RpcMessage, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve `subscriptions/listen`: confirm the subscription, then notify until either side ends it."""
    await _stream(write_changes(parts, message), scope, receive, send)


async def listen_legacy(parts: McpParts, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve the GET of earlier revisions, which notifies of every change."""
    await _stream(write_notifications(parts), scope, receive, send)


async def write_changes(parts: McpParts, message: RpcMessage) -> AsyncGenerator[bytes | None]:
    """Yield the messages of a subscription; None for a mere keep-alive."""
    meta = {"_meta": {SUBSCRIPTION_KEY: message.id}}
    asked: Any = message.params.get("notifications")
    wanted = parts.changes.is_fed and isinstance(asked, dict) and asked.get("toolsListChanged") is True
    heeded = {"toolsListChanged": True} if wanted else {}
    yield write_notification(_ACKNOWLEDGED, {**meta, "notifications": heeded})
    async with aclosing(parts.changes.follow(parts.lifecycle)) as news:
        async for each in news:
            if each == "quiet":
                yield None
            elif wanted:
                yield write_notification(_CHANGED, meta)
    ended = {"resultType": "complete", "_meta": {**META, SUBSCRIPTION_KEY: message.id}}
    yield write_result(message.id, to_json(ended))


async def write_notifications(parts: McpParts) -> AsyncGenerator[bytes | None]:
    """Write the notifications for a client of an earlier revision, which gets all of them."""
    async with aclosing(parts.changes.follow(parts.lifecycle)) as news:
        async for each in news:
            yield write_notification(_CHANGED, {}) if each == "changed" else None


async def _stream(messages: AsyncGenerator[bytes | None], scope: Scope, receive: Receive, send: Send) -> None:
    async def work() -> None:
        await send(head_of_stream(scope))
        async for message in messages:
            event = STILL_WORKING if message is None else write_event("message", message)
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    try:
        await DisconnectListener(receive).over(work())
    except ClientDisconnect:
        return

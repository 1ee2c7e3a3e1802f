"""Keep a stream open that notifies a client of changes of the list of tools."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from pydantic_core import to_json
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from sidecall.features.mcp_server.parts import McpParts
from sidecall.features.mcp_server.results import META
from sidecall.features.mcp_server.revisions import SUBSCRIPTION_KEY
from sidecall.features.mcp_server.streamable import head_of_stream
from sidecall.features.mcp_server.wire import RpcMessage, write_notification, write_result
from sidecall.kernel.http.disconnect import DisconnectListener
from sidecall.kernel.http.events import STILL_WORKING, write_event

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

"""What every request passes through, as plain ASGI."""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils import uuid7

from sidecall.telemetry.current import REQUEST_ID

_ACCEPTABLE = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


def request_id_of(sent: str) -> str:
    """Take the client's id if it is sane, else mint one."""
    return sent if sent and _ACCEPTABLE.fullmatch(sent) else str(uuid7())


class RequestId:
    """Give each request an id, the client's own if it sent a sane `X-Request-Id`, and say it in the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = request_id_of(Headers(scope=scope).get("x-request-id", ""))
        scope.setdefault("state", {})["request_id"] = request_id
        REQUEST_ID.set(request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)

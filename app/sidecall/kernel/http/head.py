"""Answer HEAD like GET, without a body, on every GET route."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Serves HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope.get("method") != "HEAD":
            return self._app(scope, receive, send)

        def send_without_body(message: Message) -> Awaitable[None]:
            return send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        # Ranges are for GET only: who asks for the head wants to know how large the whole is.
        headers = [header for header in scope["headers"] if header[0] != b"range"]
        return self._app({**scope, "method": "GET", "headers": headers}, receive, send_without_body)

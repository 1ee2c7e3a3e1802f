"""A timeout for a request as a whole; that of requests applies to each piece of its answer."""

import socket
import threading
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter


def bound_requests(exporter: Any) -> None:
    """Make the SDK's exporter for OTLP over HTTP end requests in time, even if an answer comes byte by byte."""
    with suppress(AttributeError):  # Another exporter, or another release.
        session = exporter._client._transport._session
        session.mount("http://", _WholeTimeout())
        session.mount("https://", _WholeTimeout())


class _WholeTimeout(HTTPAdapter):
    def __init__(self) -> None:
        self._sockets: WeakSet[socket.socket] = WeakSet()
        super().__init__()

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> Response:
        """Send a request, and read its answer."""
        timer = threading.Timer(timeout, self._cut_off)
        timer.daemon = True
        timer.start()
        try:
            response = super().send(request, stream, timeout, verify, cert, proxies)
            _ = response.content
        finally:
            timer.cancel()
        return response

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> Any:
        """Return a connection pool whose sockets can be closed here."""
        pool = super().get_connection_with_tls_context(*args, **kwargs)
        if not hasattr(pool.ConnectionCls, "follows"):
            pool.ConnectionCls = _follow(pool.ConnectionCls, self._sockets)
        return pool

    def _cut_off(self) -> None:
        """Close the connections of a request; its reader gets an error."""
        for sock in list(self._sockets):
            with suppress(OSError):
                # Below TLS, which would first send a close notification.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _follow(kind: Any, sockets: WeakSet[socket.socket]) -> Any:
    class Followed(kind):  # type: ignore[misc]
        follows = True

        def connect(self) -> None:
            super().connect()
            sockets.add(self.sock)

    return Followed

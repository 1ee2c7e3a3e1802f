"""HTTPX transports that enforce the rules; each redirect is checked as a request of its own."""

import ssl
import time
from collections.abc import AsyncIterable, Iterable
from typing import Any

import httpcore
import httpx

from sidecall.outgoing.bodies import AnswerBounds, AsyncBoundedStream, BoundedStream, drop_packing, translate_errors
from sidecall.outgoing.connecting import AsyncCheckedNetwork, CheckedNetwork, ending_at
from sidecall.outgoing.names import drop_nameless
from sidecall.outgoing.rules import OutgoingRules

_POOL: dict[str, Any] = {"max_connections": 100, "max_keepalive_connections": 20, "keepalive_expiry": 5.0}


class GuardedTransport(httpx.BaseTransport):
    """Sends requests from threads."""

    def __init__(
        self, rules: OutgoingRules, bounds: AnswerBounds, tls: ssl.SSLContext, proxy: str | None = None
    ) -> None:
        """Open a pool of connections.

        Args:
            rules: Where requests may go.
            bounds: What their answers may take.
            tls: How hosts prove who they are.
            proxy: Through which requests go, and which then resolves names.
        """
        self._rules, self._bounds, self._has_proxy = rules, bounds, proxy is not None
        network = CheckedNetwork(None if proxy else rules)
        kept: dict[str, Any] = {**_POOL, "ssl_context": tls, "network_backend": network}
        self._pool = httpcore.HTTPProxy(**_read_proxy(proxy), **kept) if proxy else httpcore.ConnectionPool(**kept)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request.

        Raises:
            OutgoingRefused: It may not go where it wants to.
        """
        _check(self._rules, request, has_proxy=self._has_proxy)
        ends_at = time.monotonic() + self._bounds.max_seconds
        with translate_errors(), ending_at(ends_at):
            answer = self._pool.handle_request(_write(request))
        assert isinstance(answer.stream, Iterable)
        headers = drop_nameless(httpx.Headers(answer.headers))
        stream = BoundedStream(answer.stream, headers, self._bounds.max_bytes, ends_at)
        return httpx.Response(
            answer.status, headers=drop_packing(headers), stream=stream, extensions=dict(answer.extensions)
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class AsyncGuardedTransport(httpx.AsyncBaseTransport):
    """Sends requests from an event loop."""

    def __init__(
        self, rules: OutgoingRules, bounds: AnswerBounds, tls: ssl.SSLContext, proxy: str | None = None
    ) -> None:
        """Open a pool of connections, as `GuardedTransport` does."""
        self._rules, self._bounds, self._has_proxy = rules, bounds, proxy is not None
        network = AsyncCheckedNetwork(None if proxy else rules)
        kept: dict[str, Any] = {**_POOL, "ssl_context": tls, "network_backend": network}
        self._pool = (
            httpcore.AsyncHTTPProxy(**_read_proxy(proxy), **kept) if proxy else httpcore.AsyncConnectionPool(**kept)
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request.

        Raises:
            OutgoingRefused: It may not go where it wants to.
        """
        _check(self._rules, request, has_proxy=self._has_proxy)
        ends_at = time.monotonic() + self._bounds.max_seconds
        with translate_errors(), ending_at(ends_at):
            answer = await self._pool.handle_async_request(_write(request))
        assert isinstance(answer.stream, AsyncIterable)
        headers = drop_nameless(httpx.Headers(answer.headers))
        stream = AsyncBoundedStream(answer.stream, headers, self._bounds.max_bytes, ends_at)
        return httpx.Response(
            answer.status, headers=drop_packing(headers), stream=stream, extensions=dict(answer.extensions)
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def _check(rules: OutgoingRules, request: httpx.Request, *, has_proxy: bool) -> None:
    rules.check_url(request.url)
    if has_proxy:
        rules.check_name(request.url)


def _read_proxy(text: str) -> dict[str, Any]:
    """Return the proxy's address and credentials from its URL, as the pool expects them."""
    proxy = httpx.Proxy(text)
    return {"proxy_url": str(proxy.url), "proxy_auth": proxy.raw_auth}


def _write(request: httpx.Request) -> httpcore.Request:
    url = request.url
    return httpcore.Request(
        method=request.method,
        url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )

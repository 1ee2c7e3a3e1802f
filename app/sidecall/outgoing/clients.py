"""Make HTTPX clients that reach public hosts only."""

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import httpcore
import httpx

from sidecall.outgoing.bodies import AnswerBounds, AsyncBoundedStream, BoundedStream, drop_packing, translate_errors
from sidecall.outgoing.connecting import AsyncCheckedNetwork, CheckedNetwork, ending_at
from sidecall.outgoing.patterns import parse_hosts
from sidecall.outgoing.rules import OutgoingRules
from sidecall.outgoing.settings import OutgoingSettings
from sidecall.version import __version__

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
        headers = _drop_nameless(httpx.Headers(answer.headers))
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
        headers = _drop_nameless(httpx.Headers(answer.headers))
        stream = AsyncBoundedStream(answer.stream, headers, self._bounds.max_bytes, ends_at)
        return httpx.Response(
            answer.status, headers=drop_packing(headers), stream=stream, extensions=dict(answer.extensions)
        )

    async def aclose(self) -> None:
        """Close all connections, also if the waiter is cancelled meanwhile."""
        connections = self._pool.connections
        try:
            await self._pool.aclose()
        except asyncio.CancelledError:
            # It has forgotten those that it had not come to. Each closes its socket before it first waits.
            for connection in connections:
                with suppress(asyncio.CancelledError):
                    await connection.aclose()
            raise


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


# What would lead around the guard, or has no meaning for it.
_NOT_OURS = frozenset(("transport", "mounts", "proxy", "trust_env", "http1", "http2", "limits", "cert"))
_TIMEOUT = 10.0
_MOST_REDIRECTS = 5


def guarded_client(
    *,
    allow: Iterable[str] = (),
    private: Iterable[str] = (),
    block: Iterable[str] = (),
    max_bytes: int | None = None,
    max_seconds: float | None = None,
    may_exceed: bool = False,
    **options: Any,
) -> httpx.Client:
    """Return an HTTPX client that reaches public addresses only, as the settings `SIDECALL_OUTGOING_…` say.

    A name is resolved once, all its addresses are checked, and one of those is connected to. A refusal is an
    `OutgoingRefused`, a `ToolException` whose text the model reads. Redirects are followed with
    `follow_redirects=True`, and each is checked.

    Args:
        allow: The only hosts to reach, such as `api.example.com`, `*.example.org` or `example.net:8443`.
        private: Hosts to reach although they are not public: those that an operator, never a model, has chosen. A host
            that is written out is reached at each port, or at the one that stands with it.
        block: Hosts not to reach, also where an answer leads there.
        max_bytes: Most bytes of an answer, also unpacked, if less than the operator allows.
        max_seconds: Most seconds of a request as a whole, if less than the operator allows.
        may_exceed: Whether these two hold although the operator allows less: of a host that they have chosen.
        options: Those of `httpx.Client`: `headers`, `auth`, `base_url`, `timeout` of each step, `verify` and others.

    Raises:
        TypeError: An option would lead around this.
        ValueError: A host is none.
    """
    settings = OutgoingSettings()
    options = _complete(options)
    tls = _choose_trust(options.pop("verify", True))
    rules, bounds = (
        _read_rules(settings, allow, private, block),
        _read_bounds(settings, max_bytes, max_seconds, may_exceed),
    )
    transport = GuardedTransport(rules, bounds, tls, settings.outgoing_proxy)
    return _Client(transport=transport, trust_env=False, **options)


def guarded_async_client(
    *,
    allow: Iterable[str] = (),
    private: Iterable[str] = (),
    block: Iterable[str] = (),
    max_bytes: int | None = None,
    max_seconds: float | None = None,
    may_exceed: bool = False,
    **options: Any,
) -> httpx.AsyncClient:
    """Return an async client like that of `guarded_client`."""
    settings = OutgoingSettings()
    rules, bounds = (
        _read_rules(settings, allow, private, block),
        _read_bounds(settings, max_bytes, max_seconds, may_exceed),
    )
    return open_client(rules, bounds, settings.outgoing_proxy, **_complete(options))


def open_client(
    rules: OutgoingRules, bounds: AnswerBounds, proxy: str | None = None, **options: Any
) -> httpx.AsyncClient:
    """Return a client with its own rules, independent of those for tools.

    Raises:
        TypeError: An option would lead around them.
    """
    options = _complete(options)
    tls = _choose_trust(options.pop("verify", True))
    transport = AsyncGuardedTransport(rules, bounds, tls, proxy)
    return _AsyncClient(transport=transport, trust_env=False, **options)


class _Client(httpx.Client):
    def build_request(self, *args: Any, **options: Any) -> httpx.Request:
        with _refuse_nameless():
            return super().build_request(*args, **options)


class _AsyncClient(httpx.AsyncClient):
    def build_request(self, *args: Any, **options: Any) -> httpx.Request:
        with _refuse_nameless():
            return super().build_request(*args, **options)


@contextmanager
def _refuse_nameless() -> Iterator[None]:
    """Refuse an address whose host looks like an international name and is invalid, such as `xn--`.

    Raises:
        httpx.InvalidURL: It is one.
    """
    try:
        yield
    except UnicodeError as error:
        raise httpx.InvalidURL(f"Invalid IDNA hostname: {error}") from None


def _drop_nameless(headers: httpx.Headers) -> httpx.Headers:
    """Remove a Location header whose host is invalid.

    HTTPX parses it even if redirects are not followed.
    """
    if "Location" in headers:
        try:
            _ = httpx.URL(headers["Location"]).host
        except UnicodeError:
            del headers["Location"]
        except httpx.InvalidURL:  # HTTPX says so itself.
            return headers
    return headers


def _complete(options: dict[str, Any]) -> dict[str, Any]:
    """Complete the options of a client with our defaults."""
    if strays := sorted(_NOT_OURS & options.keys()):
        raise TypeError(f"A guarded client has no option {strays[0]!r}: it would lead around the guard.")
    headers = httpx.Headers({"Accept-Encoding": "gzip", "User-Agent": f"Sidecall/{__version__}"})
    headers.update(options.get("headers"))
    return {"timeout": _TIMEOUT, "max_redirects": _MOST_REDIRECTS, **options, "headers": headers}


def _choose_trust(verify: Any) -> ssl.SSLContext:
    if verify is True:
        return _load_trust(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return httpx.create_ssl_context(verify)


@lru_cache(4)
def _load_trust(*_: str | None) -> ssl.SSLContext:
    # Reading all certificates takes some 30 ms, for which an event loop would stand still with each client.
    return httpx.create_ssl_context()


def _read_rules(
    settings: OutgoingSettings, allow: Iterable[str], private: Iterable[str], block: Iterable[str]
) -> OutgoingRules:
    own = parse_hosts(private)
    return OutgoingRules(
        allow=parse_hosts(allow),
        hosts=parse_hosts(settings.outgoing_hosts),
        private=(*own, *parse_hosts(settings.outgoing_private_hosts)),
        opened=[it for it in own if it.network is None and not it.is_wildcard],
        block=parse_hosts(block),
        ports=settings.outgoing_ports,
    )


def _read_bounds(
    settings: OutgoingSettings, max_bytes: int | None, max_seconds: float | None, may_exceed: bool
) -> AnswerBounds:
    most, longest = max_bytes or settings.outgoing_max_bytes, max_seconds or settings.outgoing_timeout
    if may_exceed:
        return AnswerBounds(most, longest)
    return AnswerBounds(min(settings.outgoing_max_bytes, most), min(settings.outgoing_timeout, longest))

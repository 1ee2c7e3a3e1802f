"""Connect to checked addresses, after resolving a name once."""

import asyncio
import math
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore

from sidecall.kernel.concurrency.pools import NAMES
from sidecall.outgoing.rules import OutgoingRules

_NOT_FOUND = (OSError, UnicodeError)

_NOT_CONNECTED = (httpcore.ConnectError, httpcore.ConnectTimeout)

_Options = Iterable[httpcore.SOCKET_OPTION] | None


class CheckedNetwork(httpcore.NetworkBackend):
    """Opens sockets to allowed addresses; without rules to any, as to a proxy."""

    def __init__(self, rules: OutgoingRules | None) -> None:
        self._rules = rules
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of a host that answers."""
        addresses: Sequence[str] = [host]
        if self._rules is not None:
            self._rules.check_port(host, port)
            try:
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except _NOT_FOUND as error:
                raise httpcore.ConnectError(str(error)) from error
            addresses = self._rules.choose(host, port, _addresses_in(found))
        *others, last = addresses
        for address in others:
            try:
                return self._connect(address, port, timeout, local_address, socket_options)
            except _NOT_CONNECTED:
                continue
        return self._connect(last, port, timeout, local_address, socket_options)

    def _connect(
        self, address: str, port: int, timeout: float | None, local: str | None, options: _Options
    ) -> httpcore.NetworkStream:
        return _TimedStream(self._network.connect_tcp(address, port, limit_wait(timeout), local, options))


class AsyncCheckedNetwork(httpcore.AsyncNetworkBackend):
    """Opens sockets to allowed addresses on the event loop; without rules to any, as to a proxy."""

    def __init__(self, rules: OutgoingRules | None) -> None:
        self._rules = rules
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of a host that answers."""
        addresses: Sequence[str] = [host]
        if self._rules is not None:
            self._rules.check_port(host, port)
            addresses = self._rules.choose(host, port, await _resolve(host, port, limit_wait(timeout)))
        *others, last = addresses
        for address in others:
            try:
                return await self._connect(address, port, timeout, local_address, socket_options)
            except _NOT_CONNECTED:
                continue
        return await self._connect(last, port, timeout, local_address, socket_options)

    async def _connect(
        self, address: str, port: int, timeout: float | None, local: str | None, options: _Options
    ) -> httpcore.AsyncNetworkStream:
        return _AsyncTimedStream(await self._network.connect_tcp(address, port, limit_wait(timeout), local, options))


class _TimedStream(httpcore.NetworkStream):
    """A socket whose operations respect the deadline of their request."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, limit_wait(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, limit_wait(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, limit_wait(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _AsyncTimedStream(httpcore.AsyncNetworkStream):
    """An asynchronous socket whose operations respect the deadline of their request."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(max_bytes, limit_wait(timeout))

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, limit_wait(timeout))

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        return _AsyncTimedStream(await self._stream.start_tls(ssl_context, server_hostname, limit_wait(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


async def _resolve(host: str, port: int, timeout: float | None) -> list[str]:
    try:
        async with asyncio.timeout(timeout):
            found = await NAMES.run(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(f"{host} was not resolved in time") from error
    except _NOT_FOUND as error:
        raise httpcore.ConnectError(str(error)) from error
    return _addresses_in(found)


def _addresses_in(found: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(info[4][0]) for info in found))


_ENDS_AT: ContextVar[float] = ContextVar("sidecall_outgoing_ends_at", default=math.inf)


@contextmanager
def ending_at(moment: float) -> Iterator[None]:
    """Set the deadline for all steps in the body, on the monotonic clock."""
    token = _ENDS_AT.set(moment)
    try:
        yield
    finally:
        _ENDS_AT.reset(token)


def limit_wait(timeout: float | None) -> float | None:
    """Return the timeout of a step.

    Raises:
        httpcore.ReadTimeout: No time is left.
    """
    ends_at = _ENDS_AT.get()
    if ends_at == math.inf:
        return timeout
    left = ends_at - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the whole request took too long")
    return left if timeout is None else min(left, timeout)

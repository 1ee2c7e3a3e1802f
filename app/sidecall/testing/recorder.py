"""Record the calls of a run into a file."""

import asyncio
import threading
from collections.abc import Collection
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from sidecall.testing.recording import Exchange, Redactor, describe_answer, describe_request, write_recording

Transport = httpx.BaseTransport | httpx.AsyncBaseTransport


class Recorder(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport for HTTPX, sync and async, that passes requests on and records them with their answers.

    The file is written after each answer, in the order of the requests.
    """

    def __init__(self, path: Path, transport: Transport | None, secrets: Collection[str]) -> None:
        """Record into a file; it is replaced by the first answer.

        Args:
            path: The file.
            transport: What sends the requests; HTTPX's own if None.
            secrets: Texts that the file must not have.
        """
        self.path = path
        self._given = transport
        self._redactor = Redactor(tuple(secrets))
        self._lock = threading.Lock()
        self._exchanges: list[Exchange | None] = []
        self._sync: httpx.BaseTransport | None = transport if isinstance(transport, httpx.BaseTransport) else None
        # Connections belong to one event loop each.
        self._async: dict[Any, httpx.AsyncBaseTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass a request on, and record it.

        Raises:
            TypeError: The transport is for async clients.
        """
        request.read()
        place = self._begin(request)
        with self._lock:
            if self._sync is None:
                self._sync = httpx.HTTPTransport() if self._given is None else _refuse(self._given, "sync")
        response = self._sync.handle_request(request)
        response.read()
        return self._finish(place, request, response)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Do the same for async clients."""
        await request.aread()
        place = self._begin(request)
        response = await self._find_async().handle_async_request(request)
        await response.aread()
        return self._finish(place, request, response)

    def close(self) -> None:
        """Close the connections."""
        if self._sync is not None:
            self._sync.close()

    async def aclose(self) -> None:
        """Close the connections of async clients."""
        if isinstance(self._given, httpx.AsyncBaseTransport):
            await self._given.aclose()
        elif (own := self._async.pop(asyncio.get_running_loop(), None)) is not None:
            await own.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    def _find_async(self) -> httpx.AsyncBaseTransport:
        if self._given is not None:
            return self._given if isinstance(self._given, httpx.AsyncBaseTransport) else _refuse(self._given, "async")
        return self._async.setdefault(asyncio.get_running_loop(), httpx.AsyncHTTPTransport())

    def _begin(self, request: httpx.Request) -> int:
        """Take the request's place, since its answer may come after those of later ones."""
        with self._lock:
            self._redactor.learn(request)
            self._exchanges.append(None)
            return len(self._exchanges) - 1

    def _finish(self, place: int, request: httpx.Request, response: httpx.Response) -> httpx.Response:
        asked = describe_request(request, self._redactor)
        exchange = replace(asked, **describe_answer(response, self._redactor))
        with self._lock:
            self._exchanges[place] = exchange
            write_recording(self.path, [it for it in self._exchanges if it is not None])
        # Its body was read and unpacked.
        headers = [(k, v) for k, v in response.headers.raw if k.lower() not in _OF_BODY]
        return httpx.Response(
            response.status_code, headers=headers, content=response.content, extensions=_without_stream(response)
        )


_OF_BODY = (b"content-encoding", b"transfer-encoding", b"content-length")


def _without_stream(response: httpx.Response) -> dict[str, Any]:
    return {name: value for name, value in response.extensions.items() if name != "network_stream"}


def _refuse(given: Transport, kind: str) -> Any:
    raise TypeError(f"{type(given).__name__} sends no requests of {kind} clients: give a transport that does.")


def record(path: str | PathLike[str], transport: Transport | None = None, *, secrets: Collection[str] = ()) -> Recorder:
    """Return a transport that records the calls of a run: `Sidecall(url, transport=record("run.json"))`.

    Credentials are not written, nor members with names such as `api_key` and `password`.

    Args:
        path: The file to write; its folder is made.
        transport: What sends the requests, such as `httpx.ASGITransport(app=sidecall_app)`; HTTPX's own by default.
        secrets: More texts that the file must not have.
    """
    return Recorder(Path(path), transport, secrets)

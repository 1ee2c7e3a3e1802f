"""Answer the calls of a run from a file, without tools."""

import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import httpx
import uvicorn

from sidecall.testing.recording import (
    Exchange,
    NotRecorded,
    Redactor,
    compare,
    describe_request,
    read_recording,
    write_answer,
)
from sidecall.testing.serving import RunningServer, running

if TYPE_CHECKING:
    import sidecall.testing.bridge as _bridge

_SAFE = ("GET", "HEAD")
# Of requests that might have been meant.
_MOST_SHOWN = 5


class Replayer(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport for HTTPX, sync and async, that answers as the recorded server did.

    A call is recognised by its tool, arguments, state and context; its id is that of this run. Equal calls are answered
    in the order in which they were recorded, and reading requests as often as they come. As a context manager, it
    raises NotRecorded at its end if a request had no answer, also where a framework has kept that to itself.
    """

    def __init__(self, exchanges: list[Exchange], name: str) -> None:
        self._exchanges = exchanges
        self._name = name
        self._used = [False] * len(exchanges)
        self._ids: dict[str, str] = {}  # The recorded ids of calls, and what they are in this run.
        self._lock = threading.Lock()
        self.unrecorded: list[str] = []

    @property
    def unused(self) -> list[str]:
        """The recorded requests that were not made, each in a line."""
        return [_describe(it) for it, used in zip(self._exchanges, self._used, strict=True) if not used]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request.

        Raises:
            NotRecorded: Nothing like it was recorded, or not so often.
        """
        request.read()
        return self._answer(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Do the same for async clients."""
        await request.aread()
        return self._answer(request)

    @contextmanager
    def serving(self) -> Iterator[RunningServer]:
        """Answer over HTTP on a free port of this machine, for programs that take an address only.

        There, a request without an answer gets a problem with status 501.
        """
        config = uvicorn.Config(
            self._serve,
            port=0,
            interface="asgi3",
            ws="none",
            log_config=None,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        with running(uvicorn.Server(config)) as port:
            yield RunningServer(config.host, port)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        # A client that is given this transport enters and leaves it, too: it closes nothing.
        if exc_value is None and self.unrecorded:
            raise NotRecorded("\n".join(self.unrecorded))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.__exit__(exc_type, exc_value, traceback)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        redactor = Redactor()
        redactor.learn(request)
        sent = describe_request(request, redactor)
        with self._lock:
            found = self._find(sent)
            if found is None:
                text = self._explain(sent)
                self.unrecorded.append(text)
                raise NotRecorded(text)
            place, ids = found
            self._used[place] = True
            self._ids.update(ids)
            response = write_answer(self._exchanges[place], self._ids)
        response.request = request
        return response

    def _find(self, sent: Exchange) -> tuple[int, dict[str, str]] | None:
        """Find the first equal request that was not made yet; for one that only reads, else the last that was."""
        made = None
        for place, recorded in enumerate(self._exchanges):
            ids = compare(recorded, sent)
            if ids is not None:
                if not self._used[place]:
                    return place, ids
                made = (place, ids)
        if made is None and "if-none-match" in sent.asking:
            return self._find(replace(sent, asking={k: v for k, v in sent.asking.items() if k != "if-none-match"}))
        return made if sent.method in _SAFE else None

    def _explain(self, sent: Exchange) -> str:
        times = sum(compare(it, sent) is not None for it in self._exchanges)
        if times:
            count = "one such request" if times == 1 else f"{times} such requests"
            return f"{_describe(sent)}: {self._name} answers {count}, and this is one more."
        near = [_describe(it) for it in self._exchanges if (it.method, it.path) == (sent.method, sent.path)]
        shown = "".join(f"\n  {line}" for line in near[:_MOST_SHOWN]) or " nothing at this path"
        return f"{_describe(sent)}: {self._name} has no answer for this request. It has{':' if near else ''}{shown}"

    async def _serve(
        self,
        scope: MutableMapping[str, Any],
        receive: "_bridge.Receive",
        send: "_bridge.Send",
    ) -> None:
        """Answer one request over ASGI."""
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        query = scope["query_string"].decode()
        address = f"http://sidecall{scope['path']}{'?' if query else ''}{query}"
        try:
            answer = self._answer(httpx.Request(scope["method"], address, headers=scope["headers"], content=body))
        except NotRecorded as error:
            problem = {"type": "urn:sidecall:problem:not-recorded", "title": "Not recorded", "status": 501}
            answer = httpx.Response(501, json={**problem, "detail": str(error)})
            answer.headers["Content-Type"] = "application/problem+json"
        headers = [(name.lower(), value) for name, value in answer.headers.raw]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": answer.content})


def _describe(exchange: Exchange) -> str:
    query = str(httpx.QueryParams(exchange.query))
    body = "".join(f" {value!r:.300}" for value in exchange.body.values())
    return f"{exchange.method} {exchange.path}{'?' if query else ''}{query}{body}"


def replay(path: str | PathLike[str]) -> Replayer:
    """Return a transport that answers from a recording: `Sidecall(transport=replay("run.json"))`.

    Args:
        path: What `record` has written.

    Raises:
        UnfitRecording: The file is no recording.
        FileNotFoundError: There is no such file.
    """
    return Replayer(read_recording(Path(path)), str(path))

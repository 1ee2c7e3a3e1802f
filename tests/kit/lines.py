"""Send requests over plain sockets, and report the answer, or how the connection ended without one."""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.kit.waiting import PATIENCE

Failure = Literal["", "refused", "reset", "late"]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and its times; a status of 0 means that there was none, and `failure` says why."""

    began: float
    ended: float
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    failure: Failure = ""

    @property
    def seconds(self) -> float:
        """The duration of the request."""
        return self.ended - self.began

    @property
    def json(self) -> Any:
        """The body; an empty object when it is no JSON."""
        with suppress(ValueError):
            return json.loads(self.body)
        return {}

    @property
    def content(self) -> str:
        """The content for the model."""
        said = self.json
        return str(said.get("content", "")) if isinstance(said, dict) else ""

    @property
    def kind(self) -> str:
        """The kind of a failed call, the last word of a problem's type, or nothing."""
        said = self.json
        if not isinstance(said, dict):
            return ""
        error = (said.get("response_metadata") or {}).get("error") or {}
        return str(error.get("kind") or str(said.get("type", "")).partition("problem:")[2])


def call(tool: str, /, *, accept: str = "*/*", **args: Any) -> bytes:
    """Write the request of one call."""
    return post("/tool_calls", {"name": tool, "args": args, "id": "call_1"}, accept=accept)


def post(path: str, said: Any, *, accept: str = "*/*") -> bytes:
    """Write a request with a JSON body; bytes are sent as they are."""
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: {accept}\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def get(path: str) -> bytes:
    """Write a request without a body."""
    return f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()


class Line:
    """A connection that is kept for several requests, and reopened when it broke."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def open(self) -> None:
        """Connect, unless it is connected."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=16 * 1024 * 1024)

    async def ask(self, request: bytes, patience: float = PATIENCE, since: float | None = None) -> Answer:
        """Send a request and wait for the whole answer, which is late after so many seconds.

        Args:
            request: Its bytes.
            patience: Seconds until it is given up.
            since: When the answer was due to be asked for, if that was before now.
        """
        began = time.monotonic() if since is None else since
        try:
            async with asyncio.timeout(patience):
                status, headers, body = await self._exchange(request)
        except ConnectionRefusedError:
            return self._failed(began, "refused")
        except (ConnectionError, asyncio.IncompleteReadError):
            return self._failed(began, "reset")
        except TimeoutError:
            return self._failed(began, "late")
        if headers.get("connection") == "close":
            self.close()
        return Answer(began, time.monotonic(), status, headers, body)

    async def hang_up(self, request: bytes, after: float) -> float:
        """Send a request, close the connection so many seconds later, and return when that was."""
        await self.open()
        assert self._streams is not None
        self._streams[1].write(request)
        await asyncio.sleep(after)
        self.close()
        return time.monotonic()

    def close(self) -> None:
        """Let go of the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    def _failed(self, began: float, failure: Failure) -> Answer:
        self.close()
        return Answer(began, time.monotonic(), failure=failure)

    async def _exchange(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        await self.open()
        assert self._streams is not None
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(_split(line) for line in head[1:-2])
        if headers.get("transfer-encoding") == "chunked":
            body = await _chunks(reader)
        else:
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        return int(head[0].split(" ")[1]), headers, body


def _split(line: str) -> tuple[str, str]:
    name, _, value = line.partition(": ")
    return name.lower(), value


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readexactly(2)
    return b"".join(parts)


async def ask_once(port: int, request: bytes, patience: float = PATIENCE) -> Answer:
    """Ask on a connection of its own."""
    line = Line(port)
    try:
        return await line.ask(request, patience)
    finally:
        line.close()


async def together(port: int, request: bytes, count: int) -> list[Answer]:
    """Ask on so many connections in the same moment."""
    lines = [Line(port) for _ in range(count)]
    await asyncio.gather(*(line.open() for line in lines))
    try:
        return await asyncio.gather(*(line.ask(request) for line in lines))
    finally:
        for line in lines:
            line.close()


async def steadily(port: int, request: bytes, every: float, seconds: float) -> list[Answer]:
    """Ask at a fixed pace, whether answers come or not; each is measured from when it was due."""
    spare: list[Line] = []
    start = time.monotonic()
    asked: list[asyncio.Task[Answer]] = []
    for number in range(round(seconds / every)):
        due = start + number * every
        await asyncio.sleep(due - time.monotonic())
        asked.append(asyncio.create_task(_ask_on_spare(spare, port, request, due)))
    answers = await asyncio.gather(*asked)
    for line in spare:
        line.close()
    return answers


async def _ask_on_spare(spare: list[Line], port: int, request: bytes, due: float) -> Answer:
    line = spare.pop() if spare else Line(port)
    answer = await line.ask(request, since=due)
    spare.append(line)
    return answer

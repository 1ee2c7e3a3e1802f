"""Follow calls through the package: which of its functions they enter, and how often the way changes its file and room.

`python -m bench.walk` prints a table of the third of three equal calls of each kind, in this process, without a socket.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import uuid4

import httpx

import sidecall
from sidecall import Registry, tool
from sidecall.main import create_app
from sidecall.settings import Settings

PACKAGE = Path(sidecall.__file__).parent
# Folders whose subfolders are rooms.
WINGS = ("kernel", "features")
JSON = {"content-type": "application/json"}
MCP = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
}
# Seconds in which what a call has left to do is done.
_WHILE = 0.1

Send = Callable[[httpx.AsyncClient], Awaitable[Any]]


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def add_in_thread(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(requires_approval=True)
async def pay(cents: int) -> str:
    """Pay."""
    return f"paid {cents}"


@dataclass(frozen=True)
class Walk:
    """The functions of the package that were entered, in order: each as its file."""

    files: tuple[str, ...]

    @property
    def rooms(self) -> tuple[str, ...]:
        """The rooms of these files."""
        return tuple(map(room_of, self.files))

    def row(self) -> tuple[int, ...]:
        """Count files, rooms, calls, changes of file and changes of room."""
        return (
            len(set(self.files)),
            len(set(self.rooms)),
            len(self.files),
            count_changes(self.files),
            count_changes(self.rooms),
        )


def room_of(file: str) -> str:
    """Return the folder of a file below the package; two levels of it in the kernel and the features."""
    parts = file.split("/")[:-1]
    return "/".join(parts[:2] if parts and parts[0] in WINGS else parts[:1])


def count_changes(names: Iterable[str]) -> int:
    """Count the neighbors that differ."""
    return sum(before != after for before, after in pairwise(names))


@contextmanager
def following() -> Iterator[list[str]]:
    """Note the file of each function of the package that this thread enters."""
    entered: list[str] = []
    root = f"{PACKAGE}/"

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(root):
            entered.append(path.removeprefix(root))

    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(None)


def _call(name: str = "add", **args: Any) -> bytes:
    call = {"name": name, "args": args or {"a": 1, "b": 2}, "id": f"call_{uuid4().hex}", "type": "tool_call"}
    return json.dumps(call).encode()


def _post(path: str, body: bytes, **headers: str) -> Send:
    async def send(client: httpx.AsyncClient) -> httpx.Response:
        sent = {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return await client.post(path, content=body, headers=sent)

    return send


def _openai() -> bytes:
    function = {"name": "add", "arguments": '{"a": 1, "b": 2}'}
    return json.dumps({"id": "call_1", "type": "function", "function": function}).encode()


def _mcp() -> bytes:
    params = {"name": "add", "arguments": {"a": 1, "b": 2}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


async def _run_job(client: httpx.AsyncClient) -> Any:
    accepted = await _post("/tool_calls", _call(), prefer="respond-async")(client)
    return await client.get(accepted.headers["location"], headers={"prefer": "wait=10"})


async def _run_job_alone(client: httpx.AsyncClient) -> Any:
    await _post("/tool_calls", _call(), prefer="respond-async")(client)
    await asyncio.sleep(_WHILE)


async def _ask(client: httpx.AsyncClient) -> Any:
    return await _post("/tool_calls", _call("pay", cents=1))(client)


async def _prepare_decision(client: httpx.AsyncClient) -> Send:
    asked = await _ask(client)

    async def decide(client: httpx.AsyncClient) -> Any:
        return await client.post(asked.headers["location"], json={"decision": "approve"})

    return decide


WAYS: Mapping[str, Send] = {
    "async tool, LangChain's form": _post("/tool_calls", _call()),
    "async tool, OpenAI's form": _post("/tool_calls", _openai()),
    "sync tool in a thread": _post("/tool_calls", _call("add_in_thread")),
    "as events": _post("/tool_calls", _call(), accept="text/event-stream"),
    "wrong arguments": _post("/tool_calls", _call(a="x")),
    "a batch of one": _post("/tool_calls/batch", b"[" + _call() + b"]"),
    "a job, until 202": _post("/tool_calls", _call(), prefer="respond-async"),
    "a job, until it has run": _run_job_alone,
    "a job, until its end is read": _run_job,
    "an approval, asked": _ask,
    "MCP tools/call": _post("/mcp", _mcp(), **MCP),
}
# What is sent after something else was, which is not followed.
LATER_WAYS: Mapping[str, Callable[[httpx.AsyncClient], Awaitable[Send]]] = {
    "an approval, decided until its call has run": _prepare_decision,
}


async def _walk(sends: Sequence[Send], client: httpx.AsyncClient) -> Walk:
    *before, last = sends
    for send in before:
        await send(client)
    await asyncio.sleep(_WHILE)  # What the calls before have left to do.
    with following() as entered:
        await last(client)
    return Walk(tuple(entered))


async def walk_all() -> dict[str, Walk]:
    """Send each kind of call three times, and follow the third."""
    app = create_app(Settings(store="memory://"), Registry([add, add_in_thread, pay]))
    reached = httpx.ASGITransport(app)
    walks: dict[str, Walk] = {}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=reached, base_url="http://127.0.0.1") as it,
    ):
        for kind, send in WAYS.items():
            walks[kind] = await _walk([send] * 3, it)
        for kind, prepare in LATER_WAYS.items():
            walks[kind] = await _walk([await prepare(it) for _ in range(3)], it)
    return walks


def show(walks: Mapping[str, Walk]) -> str:
    """Write the table."""
    heads = ("call", "files", "rooms", "functions entered", "changes of file", "changes of room")
    rows = [heads, ("---", *("--:" for _ in heads[1:])), *((kind, *walk.row()) for kind, walk in walks.items())]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


if __name__ == "__main__":
    print(show(asyncio.run(walk_all())), end="")

"""The process of a tool: find the tool, run its function, answer with the outcome."""

import asyncio
import inspect
import logging
import os
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextvars import copy_context
from dataclasses import asdict
from functools import partial
from typing import Any, Protocol

from pydantic_core import to_jsonable_python

from sidecall.features.processes.child import CHUNK, COST, Frames, Message, pack
from sidecall.features.processes.failures import write_failure
from sidecall.features.processes.finder import Finder, Home
from sidecall.features.processes.inside.memory_limit import bounded_memory, writable_bytes
from sidecall.features.processes.output import ResultBounds, write_output
from sidecall.features.processes.request import read_request
from sidecall.features.processes.server_requests import (
    decode_body,
    decode_item,
    encode_body,
    encode_value,
    read_reply,
)
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.items import NamespaceSearch, Search
from sidecall.kernel.concurrency.descendants import end_copy_of
from sidecall.kernel.concurrency.event_loop import run_steadily
from sidecall.kernel.core.context import Caller, EventListener
from sidecall.kernel.core.cost import CallCost
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.log_text import shorten
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.results import complete, drain
from sidecall.kernel.json_data.text import pause_collector
from sidecall.kernel.ports.contents import KeptContent
from sidecall.kernel.ports.observer import OuterSpans
from sidecall.kernel.ports.store import Item, Namespace
from sidecall.kernel.schema.arguments import fill_hidden, validate
from sidecall.lazy_imports import load_function

# What every log line has, and what a formatter adds.
_USUAL = frozenset((*vars(logging.makeLogRecord({})), "message", "asctime"))


class Channel:
    """The socket to the server; thread-safe."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._frames = Frames()
        self._lock = threading.Lock()
        # Held while a reply is awaited; its holder's code must not ask meanwhile.
        self._asking = threading.Lock()
        # The call whose questions are answered.
        self._call: str | None = None
        self._pid = os.getpid()
        self._least = 1

    def __iter__(self) -> Iterator[Message]:
        # With the greeting the first request may come. It is left in the socket, since one that is still there when
        # this process ends has not begun. Each other message comes when the one before is answered.
        while piece := self._socket.recv(min(max(self._frames.missing, self._least), CHUNK)):
            for message in self._frames.feed(piece):
                self._least = _PIECE
                yield message

    def say(self, kind: str, subject: str | None, content: Any) -> None:
        """Send a message."""
        message = pack(kind, subject, content)
        with self._lock:
            self._socket.sendall(message)

    def ask(self, kind: str, subject: str | None, content: Any) -> Any:
        """Send a question and return its reply; threads take turns.

        Raises:
            RuntimeError: The call has ended, or this is a copy of the process in which it runs.
        """
        if os.getpid() != self._pid:
            raise RuntimeError("The store belongs to the process of the tool; its copies cannot use it.")
        with self._asking:
            # What an earlier call has left running must not speak for another one, which may be another caller's.
            if self._call is None or self._call != subject:
                raise RuntimeError("The call has ended, and with it the use of its store.")
            self.say(kind, subject, content)
            for message in self:
                return message.content
        raise ConnectionError("the server is gone")

    async def ask_without_blocking(self, kind: str, subject: str | None, content: Any) -> Any:
        """Ask outside of the event loop, if one runs; a caller that cannot wait fails before anything is sent."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self.ask(kind, subject, content)
        await asyncio.sleep(0)
        return await asyncio.to_thread(self.ask, kind, subject, content)

    def begin(self, call: str) -> None:
        """Allow questions of a call."""
        self._call = call

    def end(self) -> None:
        """Allow no more questions, and wait for pending replies, so that no later call reads them."""
        # First of all, since a thread that asks again and again may be faster at the lock for as long as it likes.
        self._call = None
        with self._asking:
            pass


class LogToServer(logging.Handler):
    """Sends log records to the server, which logs them as its own."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record, with its traceback and the author's extra fields."""
        try:
            self._channel.say("log", record.name, write_record(record, self.format(record)))
        except Exception:
            self.handleError(record)


class KeepRecords(logging.Handler):
    """Keeps log records as messages for the server, as long as there is room."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.kept: list[bytes] = []
        self._room = most

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        try:
            message = pack("log", record.name, write_record(record, self.format(record)))
        except Exception:
            self.handleError(record)
            return
        self._room -= len(message)
        if self._room >= 0:
            self.kept.append(message)


def set_levels(levels: Mapping[str, int]) -> None:
    """Log as the server does, warnings included."""
    logging.captureWarnings(True)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    # What there is to say about discovery, the server has said.
    logging.getLogger("sidecall").setLevel(logging.ERROR)


def write_record(record: logging.LogRecord, text: str) -> list[Any]:
    """Return what the server logs of a record: its level, its formatted text, and the author's extra fields."""
    named = {name: value for name, value in vars(record).items() if name not in _USUAL}
    return [record.levelno, shorten(text), to_jsonable_python(named, fallback=str)]


_MB = 1024 * 1024
# Bytes to ask the socket for.
_PIECE = 16_384

_TRACE_DELAY_MS = "200"


class ToolProcess:
    """Runs calls one after the other."""

    def __init__(self, channel: Channel, runner: asyncio.Runner, finder: Finder) -> None:
        self.lost: dict[str, str] = {}
        self._channel = channel
        # One event loop for all calls: clients that a tool's module holds belong to the loop that used them first.
        self._runner = runner
        self._finder = finder
        self._tracing: OuterSpans | None = None
        self._baseline = 0
        self._pid = os.getpid()

    def greet(self, told: Mapping[str, Any]) -> None:
        """Apply the server's log settings, and load the tools."""
        logging.getLogger().addHandler(LogToServer(self._channel))
        set_levels(told["levels"])
        if told["traces"]:
            # Spans that wait are lost when this process is killed.
            os.environ["OTEL_BSP_SCHEDULE_DELAY"] = os.environ.get("OTEL_BSP_SCHEDULE_DELAY") or _TRACE_DELAY_MS
            self._tracing = load_function(told["traces"])()
        with pause_collector():  # What is imported stays.
            for home in told["homes"]:
                reason = self._finder.explain_loss(home)
                if reason is not None:
                    self.lost[home["name"]] = reason
        self._baseline = writable_bytes()

    def call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a call; the answer holds the tool's result or its failure."""
        # In a context of its own, so that the next call does not find what this one sets.
        return copy_context().run(self._call, request)

    def _call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._tracing is None:
            return self._answer(request)
        with self._tracing.within(request.get("trace", {})):
            return self._answer(request)

    def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            add_cost = partial(self._say_cost, request["invocation_id"])
            tool, listen = self._find(request["home"]), self._make_listener(request)
            invocation = open_call(request, tool, self._channel, listen, add_cost)
            fill_hidden(invocation)
            validate(invocation)
            output = self._run_within(invocation, self._baseline + request["memory_limit_mb"] * _MB)
            return write_output(invocation.tool, output, invocation.call.id, ResultBounds(*request["bounds"]))
        except BaseException as error:
            return write_failure(error)
        finally:
            end_copy_of(self._pid)

    def _run_within(self, invocation: Invocation, most_bytes: int) -> Any:
        self._channel.begin(invocation.id)
        try:
            with bounded_memory(most_bytes):
                return self._run(invocation)
        finally:
            self._channel.end()

    def _find(self, home: Home) -> CompiledTool:
        is_new = not self._finder.knows(home)
        tool = self._finder.find(home)
        if is_new:
            self._baseline = writable_bytes()
        return tool

    def _make_listener(self, request: Mapping[str, Any]) -> EventListener:
        is_heard = "is_heard" in request

        def tell(kind: str, _: str, said: Mapping[str, Any]) -> None:
            if not is_heard and kind != "progress":  # Which is shown of every running call.
                return
            # Where the server has no room for it, it reads no more, and this waits.
            self._channel.say("event", request["invocation_id"], [kind, to_jsonable_python(said, fallback=str)])

        return tell

    def _say_cost(self, invocation_id: str, fine: int) -> None:
        self._channel.say("event", invocation_id, [COST, fine])

    def _run(self, invocation: Invocation) -> Any:
        """Call the function without a running event loop, since a sync tool may start one."""

        def say_part(part: Any) -> None:
            end_copy_of(self._pid)
            invocation.say_part(part)

        positional, keywords = invocation.tool.bind(invocation.values)
        result = drain(invocation.tool.function(*positional, **keywords), say_part)
        if inspect.isawaitable(result) or inspect.isasyncgen(result):
            return self._wait_for(complete(result, say_part))
        return result

    def _wait_for(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end, even if tasks, timers or other calls try to stop the loop."""
        loop = self._runner.get_loop()
        # In the present context, which knows the span.
        return run_steadily(loop, loop.create_task(coroutine))


class Asks(Protocol):
    """A way to the server that answers questions."""

    async def ask_without_blocking(self, kind: str, subject: str | None, content: Any) -> Any:
        """Ask outside of the event loop, if one runs."""


class BridgedItems:
    """Store items by way of the server, which knows the tenant from the call."""

    def __init__(self, channel: Asks, call: str) -> None:
        self._channel = channel
        self._call = call

    @property
    def loop(self) -> None:
        """None: any thread may ask."""

    async def get(self, _tenant: str, namespace: Namespace, key: str, *, refresh: bool = True) -> Item | None:
        """Return the item, or None; `refresh` renews its time to live."""
        return decode_item(await self._ask("get", namespace, key, refresh))

    async def put(self, _tenant: str, namespace: Namespace, key: str, value: Any, ttl: float | None = None) -> None:
        """Store a value, replacing the present one."""
        await self._ask("put", namespace, key, encode_value(value), ttl)

    async def delete(self, _tenant: str, namespace: Namespace, key: str) -> None:
        """Delete the item, if it exists."""
        await self._ask("delete", namespace, key)

    async def search(self, _tenant: str, namespace: Namespace, search: Search) -> list[Item]:
        """List the items at and below a namespace, oldest first."""
        options = {"filter": dict(search.filter) or None, "limit": search.limit, "offset": search.offset}
        found = await self._ask("search", namespace, options, search.refresh)
        return [item for told in found if (item := decode_item(told)) is not None]

    async def list_namespaces(self, _tenant: str, search: NamespaceSearch) -> list[Namespace]:
        """List the namespaces that have items, in order."""
        wanted = asdict(search)
        options = {"prefix": wanted["prefix"] or None, "suffix": wanted["suffix"] or None, "max_depth": search.depth}
        found = await self._ask("list_namespaces", {**options, "limit": search.limit, "offset": search.offset})
        return [tuple(namespace) for namespace in found]

    async def _ask(self, name: str, *values: Any) -> Any:
        return read_reply(await self._channel.ask_without_blocking("ask", self._call, [name, *values]))


class BridgedContents:
    """Contents by way of the server, which knows their owner from the call."""

    # Any thread may ask.
    loop = None

    def __init__(self, channel: Asks, call: str) -> None:
        self._channel = channel
        self._call = call

    async def keep(self, body: str | bytes, _caller: Caller, media_type: str, *, is_sent: bool = True) -> str:  # noqa: ARG002
        """Keep a body and return its id; a tool's content always counts as sent.

        Raises:
            ContentNotKept: It is too large, or the caller has no room left.
        """
        return str(await self._ask("keep_content", encode_body(body), media_type))

    async def get(self, content_id: str, caller: Caller) -> KeptContent:
        """Return a caller's content.

        Raises:
            NoSuchContent: There is none, it has expired, or it is another caller's.
        """
        media_type, encoded = await self._ask("get_content", content_id)
        return KeptContent(content_id, caller.tenant, caller.subject, media_type, decode_body(encoded))

    async def _ask(self, name: str, *values: Any) -> Any:
        return read_reply(await self._channel.ask_without_blocking("ask", self._call, [name, *values]))


def open_call(
    request: Mapping[str, Any],
    tool: CompiledTool,
    channel: Asks,
    listen: EventListener,
    add_cost: Callable[[int], None],
) -> Invocation:
    """Make the call of a tool from its request, with the store and the contents that it asks the server for."""
    call_id, tenant = request["invocation_id"], request["caller"][1]
    store = ItemStore(BridgedItems(channel, call_id), tenant) if "has_store" in request else None
    contents = BridgedContents(channel, call_id) if "has_contents" in request else None
    invocation = read_request(request, tool, listen, store, contents)
    invocation.cost = CallCost(add_cost, request.get("cost", 0))
    return invocation

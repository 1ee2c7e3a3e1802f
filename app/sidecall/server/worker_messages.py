"""Let the workers of one server ask each other, through their supervisor."""

import asyncio
import json
import logging
import socket
import struct
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sidecall.features.telemetry.count_file import CountFile, add_counts
from sidecall.kernel.lifecycle import DISCARD, PREPARE, RELOAD, RELOADED, TAKE, Answers, Counts, Handler

_HEAD = struct.Struct("!I")

Message = dict[str, Any]


class MessageLine:
    """One end of a socket pair; messages are JSON objects behind their length.

    Numbers may be no numbers (NaN), which JSON of others does not have.
    """

    def __init__(self, sock: socket.socket) -> None:
        """Take one end, which is closed with the line."""
        self._sock = sock
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        """Begin, on the running loop."""
        self._reader, self._writer = await asyncio.open_connection(sock=self._sock)

    async def send(self, message: Message) -> None:
        """Send a message; it is lost where the other end is gone."""
        if self._writer is None:
            return
        body = json.dumps(message).encode()
        with suppress(OSError):
            self._writer.write(_HEAD.pack(len(body)) + body)
            await self._writer.drain()

    async def messages(self) -> AsyncIterator[Message]:
        """Yield what comes, until the other end is gone."""
        assert self._reader is not None
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                (size,) = _HEAD.unpack(await self._reader.readexactly(_HEAD.size))
                yield json.loads(await self._reader.readexactly(size))

    def close(self) -> None:
        """End it."""
        if self._writer is not None:
            self._writer.close()
        else:
            self._sock.close()


class WorkerLink:
    """Peers of a worker, reached through the supervisor.

    What is asked before there is a handler waits for it: the worker is still starting.
    """

    def __init__(self, sock: socket.socket, counts: Counts) -> None:
        """Take the worker's end of the line, and where its counts outlive it."""
        self.counts = counts
        self.are_left = False
        self._line = MessageLine(sock)
        self._handlers: dict[str, Handler] = {}
        self._has_handlers = asyncio.Event()
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def handle(self, handlers: dict[str, Handler]) -> None:
        """Answer questions about these topics from now on."""
        self._handlers.update(handlers)
        self._has_handlers.set()

    async def open(self) -> None:
        """Begin to listen, on the running loop."""
        await self._line.open()
        self._spawn(self._listen())

    def close(self) -> None:
        """Ask and answer no more."""
        for task in self._tasks:
            task.cancel()
        self._line.close()

    async def ask(self, topic: str, payload: Any = None) -> Any:
        """Ask all workers, and return what the supervisor has gathered.

        Raises:
            ConnectionError: The supervisor is gone.
        """
        self._number += 1
        answer = self._asked[self._number] = asyncio.get_running_loop().create_future()
        await self._line.send({"ask": self._number, "topic": topic, "payload": payload})
        return await answer

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self) -> None:
        try:
            async for message in self._line.messages():
                if "do" in message:
                    self._spawn(self._do(message))
                elif (answer := self._asked.pop(message["answer"], None)) is not None and not answer.done():
                    answer.set_result(message["value"])
        finally:
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("The supervisor of the workers is gone."))

    async def _do(self, message: Message) -> None:
        await self._has_handlers.wait()
        value = await self._handlers[message["topic"]](message["payload"])
        await self._line.send({"done": message["do"], "value": value})


logger = logging.getLogger("sidecall")

# Seconds for the answers to a question, and for files to load, which have a limit of their own.
_PATIENCE = 3.0
_TO_LOAD = 90.0
_SILENT = "A worker did not answer in time."


@dataclass(eq=False, slots=True)
class _Member:
    """One worker, and what was asked of it."""

    pid: int
    line: MessageLine
    counts: CountFile
    asked: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    is_silent: bool = False  # Whether it has answered nothing since a question that it did not answer in time.


class Hub:
    """Passes each question of a worker to all of them, and gives it their answers.

    Its event loop runs in a thread of its own, so that a stopped worker does not hold up the supervisor.
    """

    def __init__(self) -> None:
        # What workers have counted that are gone.
        self._past: dict[str, list[float]] = {}
        self._members: set[_Member] = set()
        self._number = 0
        self._loop = asyncio.new_event_loop()
        self._reloads: asyncio.Task[Message] | None = None
        self._next: asyncio.Task[Message] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        threading.Thread(target=self._loop.run_forever, name="sidecall-hub", daemon=True).start()

    def add(self, pid: int, sock: socket.socket, counts: CountFile) -> None:
        """Take a new worker, its end of the line, and where it counts; it leaves by itself."""
        asyncio.run_coroutine_threadsafe(self._spawn(self._follow(pid, sock, counts)), self._loop)

    def reload(self) -> None:
        """Have all workers load their tools again; how that ends is logged there."""
        asyncio.run_coroutine_threadsafe(self._spawn(self._reload_on_signal()), self._loop)

    async def _reload_on_signal(self) -> None:
        found = await self._share_reload()
        member = next(iter(self._members), None)
        if member is not None and not found["errors"]:
            # One of them records it for all.
            self._number += 1
            member.asked[self._number] = self._loop.create_future()
            await member.line.send({"do": self._number, "topic": RELOADED, "payload": found})

    async def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, pid: int, sock: socket.socket, counts: CountFile) -> None:
        member = _Member(pid, MessageLine(sock), counts)
        await member.line.open()
        self._members.add(member)
        try:
            async for message in member.line.messages():
                if "done" in message:
                    member.is_silent = False
                    future = member.asked.pop(message["done"], None)
                    if future is not None and not future.done():
                        future.set_result(message["value"])
                else:
                    await self._spawn(self._answer(member, message))
        finally:
            self._members.discard(member)
            add_counts(self._past, counts.read())
            counts.close()
            for future in member.asked.values():
                future.cancel()
            member.line.close()

    async def _answer(self, member: _Member, message: Message) -> None:
        if message["topic"] == RELOAD:
            value: Any = await self._share_reload()
        else:
            answers = await self._gather(message["topic"], message["payload"], _PATIENCE)
            value = {"answers": answers, "past": self._count_unheard(answers)}
        await member.line.send({"answer": message["ask"], "value": value})

    async def _gather(self, topic: str, payload: Any, patience: float) -> Answers:
        """Ask all workers; those that end meanwhile are left out, and of one that is silent None is the answer.

        One that was silent before is not waited for, so that it holds up one question and not each; to load it is.
        """
        self._number += 1
        futures: dict[_Member, asyncio.Future[Any]] = {}
        for member in list(self._members):
            futures[member] = member.asked[self._number] = self._loop.create_future()
            await self._spawn(member.line.send({"do": self._number, "topic": topic, "payload": payload}))
        awaited = [future for member, future in futures.items() if patience > _PATIENCE or not member.is_silent]
        if awaited:
            await asyncio.wait(awaited, timeout=patience)
        found: Answers = {}
        for member, future in futures.items():
            if not future.done():
                member.is_silent, found[str(member.pid)] = True, None
            elif not future.cancelled():
                found[str(member.pid)] = future.result()
        return found

    def _count_unheard(self, answers: Answers) -> dict[str, list[float]]:
        """Return what those have counted who did not answer: they are gone, or do not get round to it."""
        total = dict(self._past)
        for member in self._members:
            if answers.get(str(member.pid)) is None:
                add_counts(total, member.counts.read())
        return total

    async def _share_reload(self) -> Message:
        """Reload, once for all who ask before that begins."""
        if self._reloads is None or self._reloads.done():
            self._reloads = self._loop.create_task(self._reload())
            return await asyncio.shield(self._reloads)
        if self._next is None or self._next.done():
            self._next = self._loop.create_task(self._reload_after(self._reloads))
        return await asyncio.shield(self._next)

    async def _reload_after(self, other: asyncio.Task[Message]) -> Message:
        with suppress(Exception):
            await asyncio.wait([other])
        self._reloads, self._next = asyncio.current_task(), None
        return await self._reload()

    async def _reload(self) -> Message:
        """Have every worker prepare, and then take or discard: all of them the same."""
        prepared = await self._gather(PREPARE, None, _TO_LOAD)
        errors = [error for found in prepared.values() for error in ([_SILENT] if found is None else found["errors"])]
        errors = list(dict.fromkeys(errors))
        if errors:
            await self._gather(DISCARD, errors, _PATIENCE)
            return {"errors": errors}
        taken = await self._gather(TAKE, None, _TO_LOAD)
        failed = [error for found in taken.values() for error in ([_SILENT] if found is None else found["errors"])]
        if failed:
            logger.error("workers offer different tools, since one could not take what it had loaded: %s", failed[0])
            return {"errors": list(dict.fromkeys(failed))}
        return {"errors": [], "reloaded": next((it["reloaded"] for it in taken.values()), None), "workers": len(taken)}

"""The server's side of one tool process."""

import asyncio
import json
import logging
import select
import signal
import socket
import struct
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.json_data.to_json import to_plain

# How long the text is, and how long the JSON. The JSON comes last: where a process dies while it answers, what comes
# after can never complete a message.
_LENGTHS = struct.Struct("!II")
# Bytes to ask a socket for at once.
CHUNK = 262_144
# Bytes of a message above which reading must not block other work.
LARGE = 262_144
# What the text is called in the content that it is taken from. Most tools return one and some are long: as UTF-8 it
# costs next to nothing, as JSON a server's event loop stands still.
_TEXT = "content"

# The kind of an event that says what a call costs.
COST = "cost"
# Bytes that a message about it has at most.
_LARGEST_COST = 4096

# Made once: json.dumps makes an encoder at every call.
_encode = json.JSONEncoder(separators=(",", ":"), default=to_plain).encode


class Message(NamedTuple):
    """A message about a subject, which may be a call."""

    kind: str
    subject: str | None
    content: Any


def pack(kind: str, subject: str | None, content: Any) -> bytes:
    """Pack a message; non-JSON objects are converted, but NaN and lone surrogates are kept.

    Raises:
        ValueError: JSON cannot say it.
    """
    text = b""
    if type(content) is dict and type(content.get(_TEXT)) is str:
        text = content[_TEXT].encode("utf-8", "surrogatepass")
        content = {**content, _TEXT: None} if text else content
    try:
        body = _encode((kind, subject, content)).encode("ascii")
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return b"".join((_LENGTHS.pack(len(text), len(body)), text, body))


class Frames:
    """Assembles messages from chunks."""

    def __init__(self) -> None:
        self._received = bytearray()

    @property
    def missing(self) -> int:
        """The minimum number of bytes that the next message still lacks."""
        return self._end() - len(self._received)

    @property
    def coming(self) -> int:
        """The size of the next message, once its header is read."""
        return self._end() if len(self._received) >= _LENGTHS.size else 0

    def feed(self, piece: bytes) -> Iterator[Message]:
        """Add a chunk, and yield the messages that it completes."""
        return map(unpack, self.split(piece))

    def split(self, piece: bytes) -> Iterator[bytes | bytearray]:
        """Add a chunk, and yield the raw messages that it completes."""
        self._received += piece
        while len(self._received) >= _LENGTHS.size and len(self._received) >= (end := self._end()):
            if len(self._received) == end:  # A large one is not copied.
                message, self._received = self._received, bytearray()
                yield message
                return
            with memoryview(self._received)[:end] as whole:
                first = bytes(whole)
            del self._received[:end]
            yield first

    def _end(self) -> int:
        if len(self._received) < _LENGTHS.size:
            return _LENGTHS.size
        of_text, of_json = _LENGTHS.unpack_from(self._received)
        end: int = _LENGTHS.size + of_text + of_json
        return end


def unpack(message: bytes | bytearray) -> Message:
    """Parse a complete message."""
    with memoryview(message) as whole:
        return _unpack(whole)


def _unpack(whole: memoryview) -> Message:
    text_end = _LENGTHS.size + _LENGTHS.unpack_from(whole)[0]
    message = Message(*json.loads(str(whole[text_end:], "ascii")))
    if text_end > _LENGTHS.size:
        message.content[_TEXT] = str(whole[_LENGTHS.size : text_end], "utf-8", "surrogatepass")
    return message


# Awaited with what the tool says while it runs: the kind of event, and its content. Reading is paused until it returns.
Listen = Callable[[str, Any], Awaitable[None]]
# Awaited while a large message is read, with all its bytes; reading is paused until it returns.
Prepare = Callable[[int], Awaitable[None]]
# Told what a call that is not awaited any more has cost: its invocation's id, and an amount in the finest unit.
HearCost = Callable[[str, int], object]
# Makes the reply, a message, to what the tool asks while it runs.
MakeReply = Callable[[list[Any]], Awaitable[bytes]]


class ProcessDied(Exception):
    """The process ended before it answered; `has_begun` says whether it had taken the request."""

    def __init__(self, code: int | None, has_begun: bool) -> None:
        super().__init__(f"the tool's process {describe_end(code)}")
        self.has_begun = has_begun


class Child:
    """Sends requests to a process and awaits its answers, on any event loop."""

    def __init__(self, number: int, sock: socket.socket, generation: int, greeting: bytes = b"") -> None:
        """Send the greeting; what does not fit in its non-blocking socket is sent with the first request."""
        self.number = number
        self.generation = generation
        self._socket = sock
        self._frames = Frames()
        # What has come and was not looked at yet.
        self._messages = deque[bytes | bytearray]()
        self._unsent = greeting
        with suppress(OSError):  # Dead already; the next borrower will find out.
            self._unsent = greeting[sock.send(greeting) :]

    async def ask(
        self, request: bytes, call: str, listen: Listen, prepare: Prepare | None = None, reply: MakeReply | None = None
    ) -> Any:
        """Send a request and return the answer to this call, skipping other messages.

        Questions that the process asks during the call are answered with `reply`.

        Raises:
            ProcessDied: There will be no answer.
        """
        loop = asyncio.get_running_loop()
        unsent, self._unsent = self._unsent, b""
        is_sent = await self._send(loop, unsent + request)
        while True:
            kind, subject, content = await self._receive(loop, prepare)
            if kind == "end":
                code, is_unread = content
                raise ProcessDied(code, has_begun=is_sent and not is_unread)
            if kind == "log":
                log(subject, *content)
            elif subject == call and kind == "answer":
                return content
            elif subject == call:
                await self._hear(loop, kind, content, listen, reply)

    async def _hear(
        self, loop: asyncio.AbstractEventLoop, kind: str, content: Any, listen: Listen, reply: MakeReply | None
    ) -> None:
        """Pass on the tool's progress, and reply to its questions."""
        if kind != "ask":
            await listen(*content)
        elif reply is not None:
            await self._send(loop, await reply(content))

    async def _send(self, loop: asyncio.AbstractEventLoop, request: bytes) -> bool:
        try:
            await loop.sock_sendall(self._socket, request)
        except OSError:  # It is dead then, and what it leaves to be read says why.
            return False
        return True

    async def _receive(self, loop: asyncio.AbstractEventLoop, prepare: Prepare | None) -> Message:
        """Return the next message; where this is cancelled, those that have come are left for later."""
        while not self._messages:
            if prepare is not None and self._frames.coming > LARGE:
                await prepare(self._frames.coming)
            is_unread = False
            try:
                piece = await loop.sock_recv(self._socket, CHUNK)
            except OSError as error:
                # So Linux says that it closed the socket with our request in it.
                piece, is_unread = b"", isinstance(error, ConnectionResetError)
            if not piece:
                return Message("end", None, (None, is_unread))
            self._messages.extend(self._frames.split(piece))
        message = self._messages.popleft()
        # Off the event loop what is large: others would wait until it is read.
        return unpack(message) if len(message) < LARGE else await RESULTS.run(unpack, message)

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        poll = select.poll()
        poll.register(self._socket, 0)
        return bool(poll.poll(0))

    async def wait_until_gone(self, hear: HearCost) -> None:
        """Wait until it has ended and the fork server has reaped it, hearing only what its call has cost."""
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            while True:
                for message in self._messages:
                    if len(message) < _LARGEST_COST:
                        _tell_cost(unpack(message), hear)
                self._messages.clear()
                piece = await loop.sock_recv(self._socket, CHUNK)
                if not piece:
                    return
                if self._frames.coming <= LARGE:  # Of one that is large and not complete there is no more to hear.
                    self._messages.extend(self._frames.split(piece))

    def close(self) -> None:
        """Close the socket that leads to it."""
        try:
            # The loop may have to forget the socket first, so that it does not mistake the next one of that number for
            # it.
            asyncio.get_running_loop().call_soon(self._socket.close)
        except RuntimeError:
            self._socket.close()


def _tell_cost(message: Message, hear: HearCost) -> None:
    if message.kind == "event" and message.content[0] == COST and message.subject is not None:
        hear(message.subject, message.content[1])


def log(name: str | None, level: int, text: str, named: dict[str, Any]) -> None:
    """Log what a tool has logged in its process."""
    logging.getLogger(name).log(level, text, extra=named)


def describe_end(code: int | None) -> str:
    """Describe how a process ended, by its exit code."""
    if code is None:
        return "ended"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
        return f"was ended by {name}{', as by a limit of memory' if name == 'SIGKILL' else ''}"
    except ValueError:
        return f"was ended by signal {-code}"

"""The server's side of one tool process."""

import asyncio
import json
import logging
import select
import socket
import struct
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from contextvars import Context
from typing import Any, NamedTuple

from sidecall.kernel.concurrency.descendants import describe_end
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.json_data.to_json import to_plain

# How long the text is, and how long the JSON. The JSON comes last: where a process dies while it answers, what comes
# after can never complete a message.
_LENGTHS = struct.Struct("!II")
# Bytes to ask a socket for at once. Above the usual ones, the system gives the memory anew each time and takes it back.
CHUNK = 262_144
_USUAL = 65_536
# How often the socket of a process is read that has sent something while it had no call.
_LOOKS = 16
# Bytes of a message above which reading must not block other work.
LARGE = 262_144
# Bytes of a message at most; what claims to be longer is none, but what a tool has written to the socket itself.
MOST = 1 << 30
# What the text is called in the content that it is taken from. Most tools return one and some are long: as UTF-8 it
# costs next to nothing, as JSON a server's event loop stands still.
_TEXT = "content"

# The kind of an event that says what a call costs.
COST = "cost"
# The kind of the first message of a process that imports the tools by itself.
IMPORTS = "imports"
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
    if len(text) + len(body) > MOST:
        raise ValueError(f"It takes {len(text) + len(body):,} bytes, and {MOST:,} at most cross between processes.")
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
        """Add a chunk, and yield the raw messages that it completes.

        Raises:
            ValueError: What follows is no message.
        """
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
        if of_text + of_json > MOST:
            raise ValueError("it is no message")
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

    def __init__(self, code: int | None, has_begun: bool, *, is_broken: bool = False) -> None:
        super().__init__(f"the tool's process {'sent what is no message' if is_broken else describe_end(code)}")
        self.has_begun = has_begun


class Incoming:
    """Reads what a process sends; between calls its socket stays registered with the event loop.

    It reads only while a call waits, so that a process that keeps sending is held up.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._frames = Frames()
        # What has come and was not looked at yet.
        self._messages = deque[bytes | bytearray]()
        self._waiter: asyncio.Future[None] | None = None
        # That which watches the socket, as long as it is read.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_watched = False
        self._skims = False
        # How the process has ended: whether it left a request unread.
        self._end: bool | None = None
        #: Whether it has sent what is no message, so that no more is read.
        self.is_broken = False

    async def next(self, prepare: Prepare | None) -> bytes | bytearray | None:
        """Wait for a message; None once there are no more. Where this is cancelled, those that have come are kept."""
        while not self._messages:
            if self._end is not None:
                return None
            if prepare is not None and self._frames.coming > LARGE:
                await prepare(self._frames.coming)
            await self._wait(asyncio.get_running_loop())
        return self._messages.popleft()

    @property
    def left_unread(self) -> bool:
        """Whether the process has ended with a request unread, as the system tells."""
        return bool(self._end)

    def skim(self) -> None:
        """Drop from now on what belongs to a large message."""
        self._skims = True

    async def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        waiter = self._waiter = loop.create_future()
        if loop is not self._loop or not self._is_watched:
            self._watch(loop)
        try:
            await waiter
        finally:
            self._waiter = None

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is not self._loop:
            self._leave()
        self._loop, self._is_watched = loop, True
        # In a context of its own, since it outlives the call.
        Context().run(loop.add_reader, self._socket, self._read, loop)

    def _leave(self) -> None:
        """Let the loop of earlier calls forget the socket."""
        if self._loop is not None and self._is_watched:
            with suppress(RuntimeError):  # It is closed.
                self._loop.call_soon_threadsafe(self._loop.remove_reader, self._socket.fileno())

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is not self._loop:
            return  # It is about to forget the socket.
        waiter = self._waiter
        if waiter is None or waiter.done():
            self._is_watched = False
            loop.remove_reader(self._socket)
            return
        if self._take():
            waiter.set_result(None)

    def _take(self) -> bool:
        """Read once, and return whether something has come, or the end."""
        try:
            piece = self._socket.recv(CHUNK if self._frames.missing > _USUAL else _USUAL)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            # So Linux says that it closed the socket with our request in it.
            self._end, piece = isinstance(error, ConnectionResetError), b""
        if not piece:
            self._end = bool(self._end)
        elif not (self._skims and self._frames.coming > LARGE):
            self._split(piece)
        return True

    def _split(self, piece: bytes) -> None:
        try:
            self._messages.extend(self._frames.split(piece))
        except ValueError:
            self._end, self.is_broken = False, True

    def look(self) -> bool:
        """Read what has come between calls; return False if it is no message."""
        if self._loop is not None and not self._is_watched:
            for _ in range(_LOOKS):
                if self._end is not None or not self._take():
                    break
        return not self.is_broken

    def close(self) -> None:
        """Close the socket, once the loop has forgotten it, so that it takes no other one of that number for it."""
        try:
            loop = self._loop or asyncio.get_running_loop()
            loop.call_soon_threadsafe(self._close, loop)
        except RuntimeError:  # There is none, or it is closed.
            self._socket.close()

    def _close(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._is_watched and self._socket.fileno() >= 0:
            loop.remove_reader(self._socket)
        self._is_watched = False
        self._socket.close()


class Child:
    """Sends requests to a process and awaits its answers, on any event loop."""

    def __init__(
        self,
        number: int,
        sock: socket.socket,
        generation: int,
        greeting: bytes = b"",
        when_it_imports: Callable[[], None] = lambda: None,
    ) -> None:
        """Send the greeting; what does not fit in its non-blocking socket is sent with the first request.

        `when_it_imports` is called when the process says that it imports the tools by itself.
        """
        self.number = number
        self.generation = generation
        self._socket = sock
        self._incoming = Incoming(sock)
        self._state = select.poll()
        self._state.register(sock, 0)
        self._when_it_imports = when_it_imports
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
        unsent, self._unsent = self._unsent, b""
        is_sent = await self._send(unsent + request)
        while True:
            kind, subject, content = await self._receive(prepare)
            if kind == "end":
                code, is_unread = content
                is_broken = self._incoming.is_broken
                raise ProcessDied(code, has_begun=is_sent and not is_unread, is_broken=is_broken)
            if kind == "log":
                log(subject, *content)
            elif kind == IMPORTS:
                self._when_it_imports()
            elif subject == call and kind == "answer":
                return content
            elif subject == call:
                await self._hear(kind, content, listen, reply)

    async def _hear(self, kind: str, content: Any, listen: Listen, reply: MakeReply | None) -> None:
        """Pass on the tool's progress, and reply to its questions."""
        if kind != "ask":
            await listen(*content)
        elif reply is not None:
            await self._send(await reply(content))

    async def _send(self, request: bytes) -> bool:
        try:
            sent = self._socket.send(request)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:  # It is dead then, and what it leaves to be read says why.
            return False
        if sent == len(request):
            return True
        try:
            await asyncio.get_running_loop().sock_sendall(self._socket, memoryview(request)[sent:])
        except OSError:
            return False
        return True

    async def _receive(self, prepare: Prepare | None) -> Message:
        """Return the next message."""
        message = await self._incoming.next(prepare)
        if message is None:
            return Message("end", None, (None, self._incoming.left_unread))
        # Off the event loop what is large: others would wait until it is read.
        return unpack(message) if len(message) < LARGE else await RESULTS.run(unpack, message)

    def has_ended(self) -> bool:
        """Return whether the process has ended, or has sent what is no message."""
        return bool(self._state.poll(0)) or not self._incoming.look()

    async def wait_until_gone(self, hear: HearCost) -> None:
        """Wait until it has ended and the fork server has reaped it, hearing only what its call has cost."""
        self._incoming.skim()
        while (message := await self._incoming.next(None)) is not None:
            if len(message) < _LARGEST_COST:
                _tell_cost(unpack(message), hear)

    def close(self) -> None:
        """Close the socket that leads to it."""
        self._incoming.close()


def _tell_cost(message: Message, hear: HearCost) -> None:
    if message.kind == "event" and message.content[0] == COST and message.subject is not None:
        hear(message.subject, message.content[1])


def log(name: str | None, level: int, text: str, named: dict[str, Any]) -> None:
    """Log what a tool has logged in its process."""
    logging.getLogger(name).log(level, text, extra=named)

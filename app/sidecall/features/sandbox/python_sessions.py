"""Running Python sessions, one for each directory, until they have been idle for a while."""

import asyncio
import json
import os
import socket
import struct
from collections import deque
from collections.abc import Callable
from pathlib import Path

from sidecall.features.sandbox.python_programs import Program, StartProgram
from sidecall.kernel.ports.sandbox import PythonEnd

# Opens a file for the whole output; None where there is no room for one.
OpenFile = Callable[[], int | None]


class KeptOutput:
    """Keeps the first and the last half of what is shown, and writes a longer output to a file."""

    def __init__(self, most: int, most_in_file: int = 0, open_file: OpenFile | None = None) -> None:
        """Take the number of bytes to keep, and the maximum size of the file."""
        self._half = max(1, most // 2)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._in_tail = 0
        self._most_in_file = most_in_file
        self._open_file = open_file
        self._file: int | None = None
        self.size = 0
        self.in_file = 0

    @property
    def is_cut(self) -> bool:
        """Whether part of the output is left out."""
        return self.size > 2 * self._half

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        self.size += len(piece)
        if self.is_cut and self._open_file is not None:
            opened, self._open_file = self._open_file(), None
            if opened is not None:
                self._file = opened
                self._write(bytes(self._head) + b"".join(self._tail))
        self._write(piece)
        room = self._half - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        if piece:
            self._tail.append(piece)
            self._in_tail += len(piece)
        while self._tail and self._in_tail - len(self._tail[0]) >= self._half:
            self._in_tail -= len(self._tail.popleft())

    def read(self) -> tuple[bytes, bytes]:
        """Return the beginning and the end; the end is empty if the beginning has everything."""
        tail = b"".join(self._tail)
        if not self.is_cut:
            return bytes(self._head) + tail, b""
        return bytes(self._head), tail[-self._half :]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, piece: bytes) -> None:
        if self._file is None:
            return
        wanted = piece[: max(0, self._most_in_file - self.in_file)]
        try:
            if wanted:
                self.in_file += os.write(self._file, wanted)
        except OSError:  # The disk is full; the part in memory has to suffice.
            self.close()


REPL = Path(__file__).with_name("inside") / "repl.py"

_LENGTH = struct.Struct("!I")

_MOST_OUTPUT = 65_536

_MOST_ANSWER = 1_048_576


class _NoAnswer(Exception):
    """What came is no answer of ours: the code has written it itself."""


class PythonSession:
    """An interpreter for one directory."""

    def __init__(self, start: StartProgram, directory: Path) -> None:
        """Start the interpreter.

        Raises:
            SandboxFailed: There is no sandbox.
        """
        self._loop = asyncio.get_running_loop()
        self._out = KeptOutput(_MOST_OUTPUT)
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._confined = start(
                Program(file=REPL, directory=directory, stdin=theirs.fileno(), take=lambda piece: self._out.add(piece))
            )
        self._socket.setblocking(False)
        self._has_begun = False
        self.is_over = False

    async def run(self, code: str, seconds: float) -> PythonEnd:
        """Run a piece of code; a timeout ends the session.

        Raises:
            SandboxFailed: The sandbox did not start.
        """
        self._out = KeptOutput(_MOST_OUTPUT)
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(code)
        except TimeoutError:
            await self.close()
            return PythonEnd(stdout=self._read_output(), error=f"TimeoutError: stopped after {seconds:g} seconds")
        except _NoAnswer:
            await self.close()
            return PythonEnd(stdout=self._read_output(), error="Python has answered with something else, and was ended")
        except (ConnectionError, EOFError):
            code_of_end = await self._end()
            return PythonEnd(stdout=self._read_output(), error=f"Python has ended with exit code {code_of_end}")
        except BaseException:
            self.is_over = True
            self._confined.close()
            await self._confined.wait_closed()
            raise

    async def close(self) -> None:
        """End it, and wait until all processes are gone."""
        self._confined.kill()
        await self._end()

    async def _end(self) -> int | None:
        self.is_over = True
        self._socket.close()
        return await self._confined.wait()

    async def _ask(self, code: str) -> PythonEnd:
        if not self._has_begun:
            await self._confined.begin()
            self._has_begun = True
        body = json.dumps({"code": code}).encode()
        await self._loop.sock_sendall(self._socket, _LENGTH.pack(len(body)) + body)
        size = _LENGTH.unpack(await self._receive(_LENGTH.size))[0]
        if size > _MOST_ANSWER:
            raise _NoAnswer
        value, error = _read_answer(await self._receive(size))
        self._confined.read_on()
        return PythonEnd(stdout=self._read_output(), value=value, error=error)

    async def _receive(self, size: int) -> bytes:
        body = b""
        while len(body) < size:
            piece = await self._loop.sock_recv(self._socket, size - len(body))
            if not piece:
                raise EOFError
            body += piece
        return body

    def _read_output(self) -> str:
        return show_output(self._out)


def _read_answer(body: bytes) -> tuple[str | None, str | None]:
    try:
        answer = json.loads(body)
        found = answer["value"], answer["error"]
    except (ValueError, RecursionError, TypeError, LookupError):
        raise _NoAnswer from None
    if not all(text is None or isinstance(text, str) for text in found):
        raise _NoAnswer
    return found


def show_output(kept: KeptOutput) -> str:
    """Return an output as text, with a note on the part that was left out."""
    head, tail = kept.read()
    if not tail:
        return head.decode(errors="replace")
    left = kept.size - len(head) - len(tail)
    return f"{head.decode(errors='replace')}\n[… {left} bytes left out …]\n{tail.decode(errors='replace')}"


_STOPPED = "Python was stopped; names that earlier code has set are gone (state lost)."

_UNUSED = "Python was not used for a while; names that earlier code has set are gone (state lost)."

_CROWDED = "Others needed the room; names that earlier code has set are gone (state lost)."

_MOST_NOTES = 1000


class PythonSessions:
    """Keeps a session for each directory, up to a number; the least recently used one is ended."""

    def __init__(self, start: StartProgram, most: int = 16, idle_seconds: float = 600.0) -> None:
        self._start = start
        self._most = most
        self._idle_seconds = idle_seconds
        # In order of use.
        self._sessions: dict[Path, PythonSession] = {}
        self._locks: dict[Path, asyncio.Lock] = {}
        self._timers: dict[Path, asyncio.TimerHandle] = {}
        self._lost: dict[Path, str] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self, code: str, directory: Path, seconds: float) -> PythonEnd:
        """Run code in the session of a directory, one piece at a time.

        Raises:
            SandboxFailed: There is no sandbox.
        """
        lock = self._locks.setdefault(directory, asyncio.Lock())
        async with lock:
            lost = self._lost.pop(directory, None)
            session = self._take(directory)
            try:
                end = await session.run(code, seconds)
            finally:
                self._put_back(directory, session)
        return PythonEnd(stdout=end.stdout, value=end.value, error=end.error, lost=lost)

    async def close(self) -> None:
        """End all sessions."""
        for directory in list(self._sessions):
            self._drop(directory, _STOPPED)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _take(self, directory: Path) -> PythonSession:
        timer = self._timers.pop(directory, None)
        if timer is not None:
            timer.cancel()
        session = self._sessions.pop(directory, None)
        if session is None:
            while len(self._sessions) >= self._most and (idle := self._find_idle()) is not None:
                self._drop(idle, _CROWDED)
            session = PythonSession(self._start, directory)
        self._sessions[directory] = session
        return session

    def _put_back(self, directory: Path, session: PythonSession) -> None:
        if session.is_over:
            self._sessions.pop(directory, None)
            self._note(directory, _STOPPED)
            return
        loop = asyncio.get_running_loop()
        self._timers[directory] = loop.call_later(self._idle_seconds, self._drop, directory, _UNUSED)

    def _find_idle(self) -> Path | None:
        return next((directory for directory in self._sessions if directory in self._timers), None)

    def _drop(self, directory: Path, why: str) -> None:
        session, timer = self._sessions.pop(directory, None), self._timers.pop(directory, None)
        if timer is not None:
            timer.cancel()
        if session is not None:
            self._note(directory, why)
            task = asyncio.get_running_loop().create_task(session.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def _note(self, directory: Path, why: str) -> None:
        self._lost[directory] = why
        while len(self._lost) > _MOST_NOTES:
            del self._lost[next(iter(self._lost))]
        lock = self._locks.get(directory)
        if lock is not None and not lock.locked():
            del self._locks[directory]

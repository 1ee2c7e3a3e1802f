"""A sandboxed Python that keeps the names that earlier code has set."""

import asyncio
import json
import socket
import struct
from pathlib import Path

from sidecall.features.sandbox.kept_output import KeptOutput
from sidecall.features.sandbox.python_programs import Program, StartProgram
from sidecall.kernel.ports.sandbox import PythonEnd

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

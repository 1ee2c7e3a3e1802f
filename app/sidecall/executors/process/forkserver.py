"""Order child processes from a process that was made for it, never by forking a server that has threads."""

import asyncio
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from sidecall.executors.process.kin import kill_family, new_family

# What to do, and the number of the child to do it to.
ORDER = struct.Struct("!cQ")
FORK, KILL = b"f", b"k"

# The path goes first, since Sidecall itself may lie on a part of it that only this process knows.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from sidecall.worker import main; "
    "main(*map(int, sys.argv[2:]))"
)
_STDERR = 2
# Seconds that it has for killing its children.
_PATIENCE = 2.0


class ForkServer:
    """Hold the process that forks; it is started when the first child is wanted, and again when it has died."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._family = 0

    @property
    def pid(self) -> int | None:
        """Which process forks, None as long as none does."""
        return None if self._process is None else self._process.pid

    def fork(self) -> tuple[int, socket.socket]:
        """Order a child; return its number and the socket that leads to it, which may be written to at once."""
        number = next(self._numbers)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                if not self._ordered(FORK, number, [theirs.fileno()]):
                    self._start()
                    self._ordered(FORK, number, [theirs.fileno()])
            except BaseException:
                ours.close()
                raise
        return number, ours

    def kill(self, number: int) -> None:
        """Order the end of a child and of all that it has started."""
        self._ordered(KILL, number, ())

    async def close(self) -> None:
        """End it, and with it all children."""
        process, self._process = self._process, None
        control, self._control = self._control, None
        if process is None or control is None:
            return
        try:
            with control, suppress(OSError, TimeoutError):
                control.shutdown(socket.SHUT_WR)
                control.setblocking(False)
                async with asyncio.timeout(_PATIENCE):
                    await asyncio.get_running_loop().sock_recv(control, 1)  # Nothing comes but the end.
        finally:
            self._end(process)

    def _ordered(self, what: bytes, number: int, handed: Sequence[int]) -> bool:
        with suppress(OSError):
            if self._control is not None:
                socket.send_fds(self._control, [ORDER.pack(what, number)], handed)
                return True
        return False

    def _start(self) -> None:
        if self._control is not None and self._process is not None:
            self._control.close()
            self._end(self._process)
        self._family = new_family()
        self._control, theirs = socket.socketpair()
        with theirs:
            handed = theirs.fileno()
            command = [sys.executable, "-P", "-u", "-c", _PROGRAM, json.dumps(sys.path), str(handed), str(self._family)]
            # In a session of its own, where Ctrl-C does not reach it: what runs may end while the server drains. What
            # tools print goes where the log goes, never between the answers that a command writes to its output.
            self._process = subprocess.Popen(  # noqa: S603  the command is our own
                command, stdin=subprocess.DEVNULL, stdout=_STDERR, pass_fds=[handed], start_new_session=True
            )

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Make sure that it is gone, and what has lost it as well: it may have been killed itself, or be late."""
        process.kill()
        process.wait()
        kill_family(self._family)


def can_fork() -> bool:
    """Tell whether this system has what it takes."""
    return hasattr(os, "fork") and hasattr(socket, "send_fds")

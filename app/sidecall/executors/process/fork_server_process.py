"""Order tools' processes from a process that was made for it, never by forking a server that has threads."""

import asyncio
import itertools
import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from weakref import WeakSet

from sidecall.core.errors import SidecallError
from sidecall.executors.process.child import describe_end
from sidecall.executors.process.descendants import kill_marked, new_mark
from sidecall.executors.process.orders import FORK, KILL, ORDER
from sidecall.executors.process.printed import PrintedLines
from sidecall.executors.process.watching import ForkServerWatch, await_end

logger = logging.getLogger("sidecall")

_MAIN = "sidecall.executors.process.inside.main"
# The path goes first, since Sidecall itself may lie on a part of it that only this process knows.
_PROGRAM = f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {_MAIN} import main; main(*sys.argv[2:])"
# Seconds that it has for killing its children.
_PATIENCE = 2.0
# Signs of life that are read at once.
_SIGNS = 4096


# Starts a command, which gets a descriptor of ours, one to write to, and an environment.
Launch = Callable[[Sequence[str], int, int, Mapping[str, str] | None], subprocess.Popen[bytes]]


def launch_plainly(
    command: Sequence[str], handed: int, out: int, env: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    """Start it as a child like any other."""
    return subprocess.Popen(  # noqa: S603  the command is our own
        command,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=out,
        pass_fds=[handed],
        start_new_session=True,
        env=env,
    )


class ForkServerProcess:
    """The fork server as the server sees it: started when the first process is wanted, and again when it has died.

    No order waits for it. One that gives no sign of life for some seconds after an order is killed.
    """

    def __init__(self, tools_of: str, env: Mapping[str, str] | None = None, launch: Launch = launch_plainly) -> None:
        """Prepare to start it.

        Args:
            tools_of: What it loads for all its children, as `module:function`.
            env: Its environment and theirs; that of the server when None.
            launch: Starts its process.
        """
        self._launch = launch
        self._tools_of = tools_of
        self._env = env
        self._numbers = itertools.count(1)
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._printed: PrintedLines | None = None
        self._watch: ForkServerWatch | None = None
        self._given: WeakSet[socket.socket] = WeakSet()  # What leads to the processes that this one makes.
        self._mark = 0

    @property
    def pid(self) -> int | None:
        """Its process id, None as long as there is none."""
        return None if self._process is None else self._process.pid

    def fork(self, code: int) -> tuple[int, socket.socket]:
        """Order a process that loads the code behind a descriptor.

        Returns its number and the socket that leads to it, which may be written to at once.
        """
        number = next(self._numbers)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                if not self._order(FORK, number, [theirs.fileno(), code]):
                    self._start()
                    self._order(FORK, number, [theirs.fileno(), code])
            except BaseException:
                ours.close()
                raise
        self._given.add(ours)
        return number, ours

    def kill(self, number: int) -> None:
        """Order the end of a process and of all that it has started."""
        self._order(KILL, number, ())

    async def close(self) -> None:
        """End it, and with it all that it has made."""
        process, self._process = self._process, None
        control, self._control = self._control, None
        if self._watch is not None:
            self._watch.stop()
        if process is None or control is None:
            return
        try:
            with control, suppress(OSError, TimeoutError):
                control.shutdown(socket.SHUT_WR)
                async with asyncio.timeout(_PATIENCE):
                    while await asyncio.get_running_loop().sock_recv(control, _SIGNS):
                        pass  # Signs of life, and then the end.
        finally:
            self._end(process)
            if self._printed is not None:
                self._printed.wait()

    def _order(self, what: bytes, number: int, handed: Sequence[int]) -> bool:
        if self._control is None or self._watch is None or self._watch.has_given_up:
            return False
        try:
            socket.send_fds(self._control, [ORDER.pack(what, number)], handed)
        except BlockingIOError:  # It has not taken a hundred others.
            self._watch.give_up()
            return False
        except OSError:
            return False
        self._watch.note_order()
        return True

    def _start(self) -> None:
        _look_for_main()
        self._clear_away()
        self._mark = new_mark()
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        self._printed = PrintedLines()
        with theirs, self._printed:
            handed = theirs.fileno()
            given = [json.dumps(sys.path), str(handed), str(self._mark), self._tools_of]
            # In a session of its own, where Ctrl-C does not reach it: what runs may end while the server drains. What
            # tools print goes where the log goes, never between the answers that a command writes to its output.
            command = [sys.executable, "-P", "-u", "-c", _PROGRAM, *given]
            self._process = self._launch(command, handed, self._printed.fd, self._env)
        self._given = WeakSet()
        self._watch = ForkServerWatch(self._control, self._process, partial(_let_go, self._mark, self._given))

    def _clear_away(self) -> None:
        """Forget the process that takes no orders, and have what it leaves behind killed."""
        if self._control is None or self._process is None or self._watch is None:
            return
        if not self._watch.has_given_up:  # Else its end is waited for elsewhere.
            self._watch.stop()
            end = describe_end(self._process.poll())
            self._end(self._process)
            logger.warning("the process from which tools' processes are forked %s; another takes its place", end)
        self._control.close()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Make sure that it is gone, and what it has left alone as well: it may have been killed itself, or be late."""
        process.kill()
        await_end(process)
        kill_marked(self._mark)


def _let_go(mark: int, given: WeakSet[socket.socket], has_ended: bool) -> None:
    """Let nobody wait for the processes of a fork server that was killed, and kill what they have started."""
    if not has_ended:
        for sock in list(given):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
    kill_marked(mark)


def _look_for_main() -> None:
    """Ask for what the process will load, as if it were loaded here: it must be of the same version.

    Raises:
        OSError: It may not be loaded any more.
    """
    try:
        find_spec(_MAIN)
    except SidecallError as error:
        raise OSError(str(error)) from error


def can_fork() -> bool:
    """Return whether this system has what it takes."""
    return hasattr(os, "fork") and hasattr(socket, "send_fds")

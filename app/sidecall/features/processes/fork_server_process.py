"""Start tool processes from a fork server, since forking a server with threads is unsafe."""

import asyncio
import json
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from weakref import WeakSet

from sidecall.features.processes.fork_server_watch import FORK, KILL, ORDER, ForkServerWatch, StartedProcess, await_end
from sidecall.features.processes.output import PrintedLines
from sidecall.kernel.concurrency.descendants import describe_end, kill_marked, new_mark
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.core.errors import SidecallError

logger = logging.getLogger("sidecall")

_MAIN = "sidecall.features.processes.inside.main"
# The path goes first, since Sidecall itself may lie on a part of it that only this process knows. What is imported
# stays, so that looking for garbage meanwhile would only take time.
_PROGRAM = (
    "import gc, json, sys; gc.disable(); sys.path[:] = json.loads(sys.argv[1]); "
    f"from {_MAIN} import main; main(*sys.argv[2:])"
)
# Seconds that it has for killing its children.
_PATIENCE = 2.0
# Signs of life that are read at once.
_SIGNS = 4096


# Starts a command, which gets a descriptor of ours, one to write to, and an environment.
Launch = Callable[[Sequence[str], int, int, Mapping[str, str] | None], StartedProcess]


def launch_plainly(
    command: Sequence[str], handed: int, out: int, env: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    """Start it as an ordinary child process."""
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
    """The fork server as the server sees it: started on demand, and restarted when it has died.

    Orders do not block. If it gives no sign of life for some seconds after an order it is killed. It is started in a
    thread, since that may take a while.
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
        self._last = 0
        self._control: socket.socket | None = None
        self._process: StartedProcess | None = None
        self._printed: PrintedLines | None = None
        self._watch: ForkServerWatch | None = None
        self._given: WeakSet[socket.socket] = WeakSet()  # What leads to the processes that this one makes.
        self._mark = 0
        # Held for a moment, by those who order and by the thread that starts it.
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """Its process id, or None if it does not run."""
        return None if self._process is None else self._process.pid

    def fork(self, code: int, generation: int = 0) -> tuple[int, socket.socket] | None:
        """Order a process with the code behind a descriptor.

        Processes of one generation are copies of one that has imported the tools, where these allow it; those of
        generation 0 import them themselves. Returns its number and its socket, which can be written to at once; None if
        the fork server must be started first.
        """
        number = self._last + 1
        ours, theirs = socket.socketpair()
        with theirs:
            is_ordered = self._order(FORK, number, [theirs.fileno(), code], generation)
        if not is_ordered:
            ours.close()
            return None
        self._last = number
        self._given.add(ours)
        return number, ours

    def kill(self, number: int) -> None:
        """Order the end of a process and its descendants."""
        self._order(KILL, number, ())

    async def close(self) -> None:
        """End it, with all its children."""
        with self._lock:
            self._is_closed = True
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
            # Not cancelled when its waiter is.
            await asyncio.shield(asyncio.ensure_future(SERVER.run(self._finish, process)))

    def _finish(self, process: StartedProcess) -> None:
        self._end(process, self._mark)
        if self._printed is not None:
            self._printed.wait()

    def _order(self, what: bytes, number: int, handed: Sequence[int], generation: int = 0) -> bool:
        with self._lock:
            return self._send(ORDER.pack(what, number, generation), handed)

    def _send(self, order: bytes, handed: Sequence[int]) -> bool:
        if self._control is None or self._watch is None or self._watch.has_given_up:
            return False
        # Before it is sent, since the answer may be read at once.
        self._watch.note_order()
        try:
            socket.send_fds(self._control, [order], handed)
        except BlockingIOError:  # It has not taken a hundred others.
            self._watch.give_up()
            return False
        except OSError:
            return False
        return True

    def start(self) -> None:
        """Start it; a process that no longer responds is removed first.

        Raises:
            OSError: It cannot be started.
            SidecallError: Neither can its sandbox.
        """
        _look_for_main()
        self._clear_away()
        mark, given = new_mark(), WeakSet[socket.socket]()
        control, theirs = socket.socketpair()
        control.setblocking(False)
        try:
            process = self._launch_over(theirs, mark)
        except BaseException:
            control.close()
            raise
        watch = ForkServerWatch(control, process, partial(_let_go, mark, given))
        with self._lock:
            is_late = self._is_closed
            if not is_late:
                self._control, self._process, self._watch = control, process, watch
                self._mark, self._given = mark, given
        if is_late:
            watch.stop()
            control.close()
            self._end(process, mark)

    def _launch_over(self, theirs: socket.socket, mark: int) -> StartedProcess:
        printed = PrintedLines()
        with theirs, printed:
            handed = theirs.fileno()
            given = [json.dumps(sys.path), str(handed), str(mark), self._tools_of]
            # In a session of its own, where Ctrl-C does not reach it: what runs may end while the server drains. What
            # tools print goes where the log goes, never between the answers that a command writes to its output.
            command = [sys.executable, "-P", "-u", "-c", _PROGRAM, *given]
            process = self._launch(command, handed, printed.fd, self._env)
        self._printed = printed
        return process

    def _clear_away(self) -> None:
        """Forget the unresponsive process, and kill its children."""
        with self._lock:
            control, process, watch = self._control, self._process, self._watch
            self._control = None
        if control is None or process is None or watch is None:
            return
        if not watch.has_given_up:  # Else its end is waited for elsewhere.
            watch.stop()
            code = process.poll()
            end = "no longer answers" if code is None else describe_end(code)
            self._end(process, self._mark)
            logger.warning("the process from which tools' processes are forked %s; another takes its place", end)
        control.close()

    @staticmethod
    def _end(process: StartedProcess, mark: int) -> None:
        """Make sure that the process and its children are gone, even if it was killed or is slow."""
        process.kill()
        await_end(process)
        kill_marked(mark)


def _let_go(mark: int, given: WeakSet[socket.socket], has_ended: bool) -> None:
    """Release everything that waits for children of a killed fork server, and kill their descendants."""
    if not has_ended:
        for sock in list(given):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
    kill_marked(mark)


def _look_for_main() -> None:
    """Import the module that the process will load, to make sure that it is there and of the same version.

    Raises:
        OSError: It may not be loaded any more.
    """
    try:
        find_spec(_MAIN)
    except SidecallError as error:
        raise OSError(str(error)) from error

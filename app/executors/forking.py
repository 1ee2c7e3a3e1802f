"""The process that never runs a tool: it makes those that do, by forking itself."""

import ctypes
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from app.executors.forkserver import FORK, ORDER
from app.executors.frames import pack

_PR_SET_PDEATHSIG = 1

Serve = Callable[[socket.socket], None]


class Template:
    """Fork on order, kill on order, and say how each child ended; end with whoever gives the orders.

    It has one thread and has loaded Sidecall, but none of the tools: a copy of it is safe, and ready in milliseconds.
    """

    def __init__(self, control: socket.socket, serve: Serve) -> None:
        self._control = control
        self._serve = serve
        self._children: dict[int, tuple[int, socket.socket]] = {}
        self._pid = os.getpid()
        self._bell, self._rope = socket.socketpair()
        self._bell.setblocking(False)
        self._rope.setblocking(False)
        # The end of a child rings a bell, since a handler that buries it could run in the middle of a fork.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._rope.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Obey until the server is gone, and leave no child behind."""
        try:
            while self._obeyed():
                self._bury()
        finally:
            for number in list(self._children):
                self._kill(number)

    def _obeyed(self) -> bool:
        ready, _, _ = select.select([self._control, self._bell], [], [])
        if self._bell in ready:
            self._bell.recv(4096)
        if self._control not in ready:
            return True
        order, handed, _, _ = socket.recv_fds(self._control, ORDER.size, 1)
        if len(order) < ORDER.size:
            return False
        what, number = ORDER.unpack(order)
        if what == FORK:
            self._fork(number, socket.socket(fileno=handed[0]))
        else:
            self._kill(number)
        return True

    def _fork(self, number: int, sock: socket.socket) -> None:
        try:
            pid = os.fork()
        except OSError:
            self._say_end(sock, None)
            return
        if pid == 0:
            self._become(sock)
        with suppress(OSError):  # It has done so itself.
            os.setpgid(pid, pid)
        self._children[number] = (pid, sock)

    def _become(self, sock: socket.socket) -> NoReturn:
        """Be a child: leave the template's things alone, and serve."""
        code = 1
        try:
            os.setpgid(0, 0)
            _die_with(self._pid)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for inherited in (self._control, self._bell, self._rope, *(other for _, other in self._children.values())):
                inherited.close()
            self._serve(sock)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)

    def _kill(self, number: int) -> None:
        """Kill a child and what it has started; its process id is its own until it is buried."""
        pid, _ = self._children.get(number, (0, None))
        if pid:
            for kill in (os.killpg, os.kill):
                with suppress(OSError):
                    kill(pid, signal.SIGKILL)

    def _bury(self) -> None:
        for number, (pid, sock) in list(self._children.items()):
            buried, status = os.waitpid(pid, os.WNOHANG)
            if buried:
                del self._children[number]
                self._say_end(sock, os.waitstatus_to_exitcode(status))

    @staticmethod
    def _say_end(sock: socket.socket, code: int | None) -> None:
        """Tell the server, on the child's own socket and after everything the child has said."""
        with sock, suppress(OSError):
            sock.send(pack(["end", None, code]), socket.MSG_DONTWAIT)


def _die_with(parent: int) -> None:
    """Let the system kill this process when its parent dies, where the system does that."""
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It died before it was asked to tell.
        os._exit(1)

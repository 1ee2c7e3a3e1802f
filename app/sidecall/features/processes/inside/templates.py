"""Templates: processes that have imported the tools of one generation of code, and fork the tool processes of it.

So an import costs time and memory once, not in each process. The fork server makes a template with the first process of
a generation, and passes orders on to it. Where copies of it would not be like processes that have imported the tools
themselves, or where it ends while it imports, each process imports them, and the log says why.
"""

import gc
import os
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from logging import WARNING
from typing import NamedTuple

from sidecall.features.processes.child import pack
from sidecall.features.processes.fork_server_watch import FORK, KILL, ORDER, RETIRE, SIGN
from sidecall.features.processes.inside.fork_server import (
    ForkServer,
    Serve,
    closed_after,
    report_end,
    wake_with_parent,
)
from sidecall.features.processes.inside.forkable import can_be_forked, find_obstacle, list_opened
from sidecall.kernel.concurrency.descendants import describe_end, kill

_MOST_REASON = 1000
_NOTE = (
    "each tool process imports the tools by itself, which takes time and memory in each: {}; "
    "SIDECALL_PROCESS_IMPORT=each does the same without this warning"
)
# Seconds between two looks at a template that has an order to confirm, and how many have no sign of life in vain.
_LOOK = 1.0
_STANDS_STILL_AFTER = 5
_STANDS_STILL = "the process that has imported the tools stands still; it is killed, and another takes its place"
_REPLACED = "the process that has imported the tools {}, and with it those that run them; another takes its place"
_ENDED = "the process that imported them for all has ended meanwhile"


class Loaded(NamedTuple):
    """What a template does in its children, and messages of the import for the server."""

    serve: Serve
    said: Sequence[bytes]


# Imports the tools, and the code behind a descriptor.
Load = Callable[[int], Loaded]


class _Handed(NamedTuple):
    """What comes with an order to fork: the socket of the new process, and the descriptor of its code."""

    sock: socket.socket
    code: int

    def close(self) -> None:
        self.sock.close()
        os.close(self.code)


class Template:
    """A template, as the fork server sees it."""

    def __init__(self, generation: int, pid: int, control: socket.socket) -> None:
        self.generation = generation
        self.pid = pid
        self.control = control
        # Processes that are ordered while it imports.
        self.waiting: dict[int, _Handed] = {}
        self.is_ready = False
        self.is_retired = False
        # Its process id is another's now.
        self.is_gone = False
        self._is_killed = False
        self.reason = b""
        self._open = 0
        self._silent = 0
        self._looked = 0.0

    def send(self, what: bytes, number: int, handed: _Handed | None = None) -> None:
        """Pass an order on; where the template has ended or stands still, the order is lost with it."""
        fds = [] if handed is None else [handed.sock.fileno(), handed.code]
        try:
            socket.send_fds(self.control, [ORDER.pack(what, number, self.generation)], fds)
        except BlockingIOError:  # It has not taken a hundred others.
            self.kill()
        except OSError:
            return
        self._open += 1

    def kill(self) -> None:
        """Kill it, and so its processes, which end with their parent."""
        self._is_killed = True
        if not self.is_gone:
            kill(self.pid)

    def note_end(self, status: int) -> str | None:
        """Note that it has ended, and return what the log should say of it; None where that was to be."""
        self.is_gone = True
        code = os.waitstatus_to_exitcode(status)
        return _REPLACED.format(describe_end(code)) if self.is_ready and code and not self._is_killed else None

    def take_signs(self, count: int) -> None:
        """Note so many confirmations."""
        self._open -= count
        self._silent = 0

    @property
    def is_awaited(self) -> bool:
        """Whether it has orders to confirm."""
        return self.is_ready and self._open > 0

    def look(self) -> bool:
        """Return whether it stands still: it has confirmed nothing for several looks.

        Looks are counted, not seconds: where this process was stopped, too, the template is not late.
        """
        now = time.monotonic()
        if not self.is_awaited:
            self._silent, self._looked = 0, now
        elif now - self._looked >= _LOOK:
            self._silent, self._looked = self._silent + 1, now
        return self._silent >= _STANDS_STILL_AFTER


class MainForkServer(ForkServer):
    """Forks templates, and tool processes by way of them; it loads no tool itself."""

    def __init__(self, control: socket.socket, serve: Serve, mark: int, load: Load) -> None:
        """Prepare to serve; `load` is what templates do, `serve` what processes without one do."""
        super().__init__(control, serve, mark)
        self._load = load
        self._templates: list[Template] = []
        # Their sockets may close before they can be reaped.
        self._unreaped: dict[int, Template] = {}
        self._current: Template | None = None
        self._owners: dict[int, Template] = {}
        # Of this generation there is no template.
        self._unfit = 0

    def _others(self) -> tuple[Iterable[socket.socket], float | None]:
        is_awaited = any(template.is_awaited for template in self._templates)
        return [template.control for template in self._templates], _LOOK if is_awaited else None

    def _list_templates(self) -> set[int]:
        return {template.pid for template in self._templates}

    def _close_own(self) -> None:
        super()._close_own()
        for template in self._templates:
            template.control.close()
            for handed in template.waiting.values():
                handed.close()

    def _carry_out(self, what: bytes, number: int, generation: int, handed: Sequence[int]) -> None:
        if what == KILL and number in self._owners:
            self._stop(self._owners.pop(number), number)
        elif len(handed) == 2 and (template := self._find(generation, handed)) is not None:
            self._owners[number] = template
            self._order(template, number, _Handed(socket.socket(fileno=handed[0]), handed[1]))
        else:
            super()._carry_out(what, number, generation, handed)

    def _collect_ended(self) -> list[tuple[int, int]]:
        found = super()._collect_ended()
        for pid, status in found:
            template = self._unreaped.pop(pid, None)
            if template is not None and (end := template.note_end(status)) is not None:
                self._say(end)
        return found

    def _find(self, generation: int, handed: Sequence[int]) -> Template | None:
        """Return the template of a generation, a new one if need be; None where processes have to do without."""
        if self._current is not None and self._current.generation != generation:
            self._retire(self._current)
            self._current = None
        if self._current is None and generation not in (0, self._unfit) and can_be_forked():
            self._current = self._fork_template(generation, handed)
        return self._current

    def _fork_template(self, generation: int, handed: Sequence[int]) -> Template | None:
        ours, theirs = socket.socketpair()
        try:
            pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            return None
        if pid == 0:
            ours.close()
            os.close(handed[0])
            self._become(partial(_be_template, theirs, handed[1], self._mark, self._load, self._said))
        theirs.close()
        ours.setblocking(False)
        self._said = []
        with suppress(OSError):  # It has done so itself.
            os.setpgid(pid, pid)
        template = Template(generation, pid, ours)
        self._templates.append(template)
        self._unreaped[pid] = template
        return template

    def _order(self, template: Template, number: int, handed: _Handed) -> None:
        """Order a process from a template, once that is ready."""
        if not template.is_ready:
            template.waiting[number] = handed
            return
        template.send(FORK, number, handed)
        handed.close()

    def _stop(self, template: Template, number: int) -> None:
        """Kill a process of a template, which may not have been forked yet."""
        handed = template.waiting.pop(number, None)
        if handed is None:
            template.send(KILL, number)
            return
        os.close(handed.code)
        report_end(handed.sock, None)
        self._end_unneeded(template)

    def _retire(self, template: Template) -> None:
        """Let a template end with its last process."""
        template.is_retired = True
        if template.is_ready:
            template.send(RETIRE, 0)
        self._end_unneeded(template)

    def _end_unneeded(self, template: Template) -> None:
        """Kill a template that imports what nothing waits for any more."""
        if template.is_retired and not template.is_ready and not template.waiting:
            template.kill()

    def _hear(self, ready: Sequence[socket.socket]) -> None:
        for template in [*self._templates]:
            if template.control in ready:
                self._read(template)
            if template in self._templates and template.look():
                self._say(_STANDS_STILL)
                template.kill()

    def _read(self, template: Template) -> None:
        try:
            said = template.control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        if not said:
            self._lose(template)
        elif template.is_ready:
            template.take_signs(len(said))
        elif said.startswith(SIGN):
            template.is_ready = True
            self._release(template)
        else:
            template.reason += said[:_MOST_REASON]

    def _say(self, text: str) -> None:
        """Let the next process that begins log this for the server."""
        self._said.append(pack("log", "sidecall", [WARNING, text, {}]))

    def _release(self, template: Template) -> None:
        """Order the processes that wait for a template."""
        waiting, template.waiting = template.waiting, {}
        for number, handed in waiting.items():
            template.send(FORK, number, handed)
            handed.close()
        if template.is_retired:
            template.send(RETIRE, 0)

    def _lose(self, template: Template) -> None:
        """Forget a template that has ended; its processes end with it."""
        template.control.close()
        self._templates.remove(template)
        self._owners = {number: owner for number, owner in self._owners.items() if owner is not template}
        if self._current is template:
            self._current = None
            if not template.is_ready:
                self._unfit = template.generation
                reason = template.reason.decode(errors="replace") or _ENDED
                self._say(_NOTE.format(reason))
        waiting, template.waiting = template.waiting, {}
        for number, handed in waiting.items():
            with closed_after(handed.code):
                self._fork(number, handed.sock, handed.code)
        if not template.is_gone:
            kill(template.pid)  # Where it has only closed its socket.


def _be_template(control: socket.socket, code: int, mark: int, load: Load, said: Sequence[bytes]) -> None:
    """Import the tools, and fork processes until there are no more orders."""
    before = list_opened()
    del before[code]  # Which is closed once it was read.
    loaded = load(code)
    control.settimeout(None)
    obstacle = find_obstacle(before)
    if obstacle is not None:
        control.sendall(obstacle.encode(errors="replace")[:_MOST_REASON])
        return
    server = ForkServer(control, loaded.serve, mark, [*said, *loaded.said])
    # The present pages are shared with all children until they are written.
    gc.collect()
    gc.freeze()
    wake_with_parent()
    control.sendall(SIGN)
    server.run()

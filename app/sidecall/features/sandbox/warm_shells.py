"""Shells that wait in their sandboxes, so that the next command need not wait for one.

Each runs one command and ends with it, like any other. There is one for each of the last conversations, with its
workspace and the variables that its last command left, and a few without a workspace, for first commands.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sidecall.features.sandbox.shell_process import ShellMaker, ShellProcess
from sidecall.kernel.ports.sandbox import SandboxFailed

# Of those without a workspace, which take next to nothing.
_BLANKS = 2
_IDLE_SECONDS = 60.0
# Seconds after a command until the next shell is started: its answer goes first, and a workspace that ends with it is
# gone then.
_PAUSE = 0.005


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A shell, the variables that it was started with, the workspace's folder as it was, and what ends it."""

    shell: ShellProcess
    variables: Mapping[str, str]
    folder: os.stat_result
    timer: asyncio.TimerHandle


class WarmShells:
    """Keeps shells that wait, up to a number."""

    def __init__(self, maker: ShellMaker, most: int, idle_seconds: float = _IDLE_SECONDS) -> None:
        """Keep none yet; `most` is the number of those with a workspace, and without any there are no others."""
        self._maker = maker
        self._most = most if maker.can_wait else 0
        self._idle_seconds = idle_seconds
        # In order of use.
        self._placed: dict[Path, _Waiting] = {}
        self._blanks: list[ShellProcess] = []
        self._planned: dict[Path, asyncio.TimerHandle] = {}
        self._filling: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def directories(self) -> list[Path]:
        """The workspaces in which one waits, the least recently used first."""
        return [*self._placed]

    def take(self, directory: Path, variables: Mapping[str, str]) -> ShellProcess | None:
        """Return the shell that waits in this workspace with these variables; None if there is none.

        One that does not fit any more is ended: with other variables, of a workspace that was made anew, or dead.
        """
        self._cancel(directory)
        waiting = self._placed.pop(directory, None)
        if waiting is None:
            return None
        waiting.timer.cancel()
        if waiting.variables == variables and not waiting.shell.has_ended() and _is_same(directory, waiting.folder):
            return waiting.shell
        self._drop(waiting.shell)
        return None

    def take_blank(self) -> ShellProcess | None:
        """Return a shell without a workspace; None if none waits."""
        while self._blanks:
            blank = self._blanks.pop()
            if not blank.has_ended():
                return blank
            self._drop(blank)
        return None

    def prepare(self, directory: Path, variables: Mapping[str, str]) -> None:
        """Soon let a shell wait in a workspace, in the place of the least recently used one if there are too many."""
        if self._is_closed or not self._most:
            return
        self.forget(directory)
        loop = asyncio.get_running_loop()
        self._planned[directory] = loop.call_later(_PAUSE, self._prepare, directory, variables)

    def _prepare(self, directory: Path, variables: Mapping[str, str]) -> None:
        del self._planned[directory]
        with suppress(SandboxFailed, OSError):  # The next command starts one itself.
            if directory.is_dir():
                self._place(directory, variables)
            self._fill_soon()

    def _fill_soon(self) -> None:
        """Start a shell without a workspace in a later turn: each start holds the event loop for a moment."""
        if self._filling is None and len(self._blanks) < _BLANKS:
            self._filling = asyncio.get_running_loop().call_later(_PAUSE, self._fill)

    def _fill(self) -> None:
        self._filling = None
        with suppress(SandboxFailed, OSError):
            self._blanks.append(ShellProcess(self._maker, waits=True))
            self._fill_soon()

    def _place(self, directory: Path, variables: Mapping[str, str]) -> None:
        shell = self.take_blank() or ShellProcess(self._maker)
        try:
            folder = directory.stat()
            shell.place(directory, variables)
        except BaseException:
            self._drop(shell)
            raise
        timer = asyncio.get_running_loop().call_later(self._idle_seconds, self.forget, directory)
        self._placed[directory] = _Waiting(shell, variables, folder, timer)
        while len(self._placed) > self._most:
            self.forget(next(iter(self._placed)))

    def forget(self, directory: Path) -> None:
        """End the shell that waits in a workspace."""
        self._cancel(directory)
        waiting = self._placed.pop(directory, None)
        if waiting is not None:
            waiting.timer.cancel()
            self._drop(waiting.shell)

    async def close(self) -> None:
        """End all, and keep none any more."""
        self._is_closed = True
        for directory in [*self._planned]:
            self._cancel(directory)
        for directory in self.directories:
            self.forget(directory)
        if self._filling is not None:
            self._filling.cancel()
        while self._blanks:
            self._drop(self._blanks.pop())
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _cancel(self, directory: Path) -> None:
        planned = self._planned.pop(directory, None)
        if planned is not None:
            planned.cancel()

    def _drop(self, shell: ShellProcess) -> None:
        task = asyncio.get_running_loop().create_task(shell.drop())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _is_same(directory: Path, folder: os.stat_result) -> bool:
    try:
        return os.path.samestat(directory.stat(), folder)
    except OSError:
        return False

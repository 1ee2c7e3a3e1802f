"""Run the commands of a conversation, each in its own sandbox, as if one shell ran them all."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sidecall.features.sandbox.bubblewrap import SandboxBackend
from sidecall.features.sandbox.python_sessions import KeptOutput
from sidecall.features.sandbox.self_test import ProgramEnd, run_within
from sidecall.features.sandbox.shell_process import ShellProcess, ShellTask, find_shell
from sidecall.features.sandbox.shell_state import ShellBounds, ShellState, ShellStates, read_saved
from sidecall.features.sandbox.warm_shells import WarmShells
from sidecall.kernel.ports.sandbox import CommandEnd, OpenSpill, SandboxFailed, SandboxLimits


class Shell:
    """Runs commands, and carries the directory and exported variables of one to the next.

    Each has its own sandbox, so that one which hangs or ends its shell affects nothing else. That of the next command
    may wait for it.
    """

    def __init__(self, backend: SandboxBackend, limits: SandboxLimits, states: ShellStates, waiting: int = 0) -> None:
        """Prepare; `waiting` is the number of workspaces in which a shell waits for the next command."""
        self._limits = limits
        self._states = states
        self._maker = find_shell(backend, limits)
        self.waiting = WarmShells(self._maker, waiting)

    async def run(
        self, command: str, directory: Path, bounds: ShellBounds, open_spill: OpenSpill, *, is_plain: bool = False
    ) -> CommandEnd:
        """Run a command, and kill everything that it started when it ends.

        Args:
            command: A shell command of any length.
            directory: The directory mounted as `/workspace`.
            bounds: The bounds of this command.
            open_spill: Opens a file for the whole of an output that is cut.
            is_plain: Run it without variables of earlier commands, which could change its meaning.

        Raises:
            SandboxFailed: There is no sandbox to run it in.
        """
        out, err = (_Output(name, bounds.output, self._limits.file_bytes, open_spill) for name in ("stdout", "stderr"))
        try:
            state = self._states.read(directory)
            variables = {} if is_plain else state.variables
            task = ShellTask(command, state.folder, out.kept.add, err.kept.add)
            ended, told = await self._run(task, directory, variables, bounds.seconds)
        finally:
            out.kept.close()
            err.kept.close()
        if not ended.is_late:
            left = self._keep(directory, state, told, is_plain=is_plain)
            self.waiting.prepare(directory, {} if is_plain else left.variables)
        return CommandEnd(
            stdout=out.kept.read(),
            stderr=err.kept.read(),
            sizes=(out.kept.size, err.kept.size),
            exit_code=None if ended.is_late else ended.exit_code,
            files=tuple(one.name for one in (out, err) if one.name is not None),
        )

    async def close(self) -> None:
        """End the shells that wait."""
        await self.waiting.close()

    async def _run(
        self, task: ShellTask, directory: Path, variables: Mapping[str, str], seconds: float
    ) -> tuple[ProgramEnd, bytes]:
        """Run a command in the shell that waits for it, or else in a new one."""
        waiting = self.waiting.take(directory, variables)
        if waiting is not None:
            waiting.give(task)
            ended = await _run_unless_dead(waiting, seconds)
            if ended is not None:
                return ended, bytes(waiting.told)
        shell = self.waiting.take_blank() or ShellProcess(self._maker, task.folder)
        try:
            shell.give(task)
            shell.place(directory, variables)
            return await run_within(shell, seconds), bytes(shell.told)
        finally:
            await shell.drop()

    def _keep(self, directory: Path, before: ShellState, told: bytes, *, is_plain: bool) -> ShellState:
        """Keep the state that a command has left; return that in which the next one begins."""
        state = read_saved(told)
        if state is not None and is_plain:
            state = replace(state, variables=before.variables)
        if state is None or state == before:
            return before
        try:
            self._states.write(directory, state)
        except OSError:  # The next command then begins where this one did.
            return before
        return state


async def _run_unless_dead(shell: ShellProcess, seconds: float) -> ProgramEnd | None:
    """Run the command of a shell that has waited; return None if it has ended before it took it."""
    try:
        ended = await run_within(shell, seconds)
        return None if shell.is_unread and not ended.is_late else ended
    except SandboxFailed:
        return None
    finally:
        await shell.drop()


class _Output:
    """An output of a command, and the file that takes all of a long one."""

    def __init__(self, kind: str, most: int, most_in_file: int, open_spill: OpenSpill) -> None:
        self._kind = kind
        self._open_spill = open_spill
        self.name: str | None = None
        self.kept = KeptOutput(most, most_in_file, self._open)

    def _open(self) -> int | None:
        opened = self._open_spill(self._kind)
        if opened is None:
            return None
        fd, self.name = opened
        return fd

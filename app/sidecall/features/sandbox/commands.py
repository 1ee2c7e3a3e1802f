"""Run the commands of a conversation, each in its own sandbox, as if one shell ran them all."""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sidecall.features.sandbox.bubblewrap import HOME, Mount, SandboxBackend, SandboxSpec
from sidecall.features.sandbox.confined import Confined, Stream
from sidecall.features.sandbox.python_sessions import KeptOutput
from sidecall.features.sandbox.self_test import run_within
from sidecall.features.sandbox.shell_state import MOST, ShellState, ShellStates, read_saved
from sidecall.kernel.ports.sandbox import CommandEnd, OpenSpill, SandboxLimits

_START = Path(__file__).with_name("inside") / "start_shell.sh"
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
_COMMAND, _BEGIN = "/run/sidecall/command", "/run/sidecall/start"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellBounds:
    """The timeout of a command, and how much of its output is kept."""

    seconds: float = 30.0
    output: int = 65_536


class Shell:
    """Runs commands, and carries the directory and exported variables of one to the next.

    Each has its own sandbox, so that one which hangs or ends its shell affects nothing else.
    """

    def __init__(self, backend: SandboxBackend, limits: SandboxLimits, states: ShellStates) -> None:
        self._backend = backend
        self._limits = limits
        self._states = states
        self._program = next(shell for shell in _SHELLS if os.access(shell, os.X_OK))
        self._start = _START.read_bytes()

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
        told = bytearray()
        reading, writing = os.pipe()
        stream = Stream(reading, lambda piece: told.extend(piece[: MOST + 1 - len(told)]))
        try:
            state = self._states.read(directory)
            used = replace(state, variables={}) if is_plain else state
            spec = self._write_spec(command, directory, used, writing, out, err)
            ended = await run_within(Confined(self._backend, spec), bounds.seconds)
            stream.finish()
        finally:
            os.close(writing)
            stream.close()
            out.kept.close()
            err.kept.close()
        if not ended.is_late:
            self._keep(directory, state, bytes(told), is_plain=is_plain)
        return CommandEnd(
            stdout=out.kept.read(),
            stderr=err.kept.read(),
            sizes=(out.kept.size, err.kept.size),
            exit_code=None if ended.is_late else ended.exit_code,
            files=tuple(one.name for one in (out, err) if one.name is not None),
        )

    def _keep(self, directory: Path, before: ShellState, told: bytes, *, is_plain: bool) -> None:
        state = read_saved(told)
        if state is not None and is_plain:
            state = replace(state, variables=before.variables)
        if state is not None and state != before:
            with suppress(OSError):  # The next command then begins where this one did.
                self._states.write(directory, state)

    def _write_spec(
        self, command: str, directory: Path, state: ShellState, telling: int, out: "_Output", err: "_Output"
    ) -> SandboxSpec:
        flags = ("--noprofile", "--norc") if self._program.endswith("bash") else ()
        return SandboxSpec(
            command=[self._program, *flags, _BEGIN, os.fsdecode(state.folder), str(telling)],
            limits=self._limits,
            mounts=[Mount(str(directory), HOME, is_writable=True)],
            files={
                _BEGIN: self._start,
                _COMMAND: command.encode(errors="surrogateescape") + b"\n",
            },
            variables=state.variables,
            given=[telling],
            out=out.kept.add,
            err=err.kept.add,
        )


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

"""Run command-line tools, each call in its own sandbox."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from sidecall.features.sandbox.bubblewrap import Mount, SandboxBackend, SandboxSpec
from sidecall.features.sandbox.confined import Confined
from sidecall.features.sandbox.launcher import store_bytes
from sidecall.features.sandbox.python_sessions import KeptOutput
from sidecall.features.sandbox.self_test import ProgramEnd, run_within
from sidecall.kernel.concurrency.fair_queue import Semaphore, key_of
from sidecall.kernel.core.errors import ToolException, ToolOutputError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.sandbox import HOME, PATH, SandboxFailed, SandboxLimits

_SCRIPTS = "/run/sidecall"
_TEMPORARY = "/tmp"  # noqa: S108  the sandbox's own
_MOST_OUTPUT = 1_048_576
_MOST_WORDS = 2_000
# Longer than any call's deadline.
_FOR_EVER = 1e6


class CommandTools:
    """Runs command-line tools, up to so many at once."""

    def __init__(self, limits: SandboxLimits, most: int) -> None:
        self._limits = limits
        self._room = Semaphore(most)

    async def run(self, invocation: Invocation, backend: SandboxBackend) -> Any:
        """Run the command of a call; return its output as text or parsed JSON.

        Raises:
            SandboxFailed: There is no sandbox to run it in.
            ToolException: It exits with another code than 0, or its program is missing.
            ToolOutputError: It prints too much, or invalid JSON.
        """
        tool = invocation.tool
        out, err = KeptOutput(_MOST_OUTPUT), KeptOutput(_MOST_WORDS)
        with ExitStack() as theirs:
            spec = self._write_spec(tool, invocation.values, theirs)
            try:
                ended = await self._run_in_turn(invocation, backend, replace(spec, err=err.add), out)
            except SandboxFailed as error:
                raise _name_missing(tool, spec) or error from error
        if out.is_cut:
            raise ToolOutputError(
                f"Error: {tool.name} was ended, since it printed more than {_MOST_OUTPUT} bytes, the most that are"
                " read. Ask for less."
            )
        if ended.exit_code:
            said = "".join(part.decode(errors="replace") for part in err.read()).strip()
            raise ToolException(said or f"{tool.name} has ended with exit code {ended.exit_code}.")
        return _read_output(tool, out)

    async def _run_in_turn(
        self, invocation: Invocation, backend: SandboxBackend, spec: SandboxSpec, out: KeptOutput
    ) -> ProgramEnd:
        await self._room.enter(key_of(invocation.request.sender.caller))
        try:
            return await _run_until_cut(backend, spec, out)
        finally:
            self._room.leave()

    def _write_spec(self, tool: CompiledTool, values: Mapping[str, Any], theirs: ExitStack) -> SandboxSpec:
        command = tool.options.command
        assert command is not None  # Otherwise it would run in a tool process.
        shown = {name: value for name, value in values.items() if name not in tool.hidden_names}
        mounts = [Mount(str(place), HOME, is_writable=True) for place in _find_workspaces(tool, values)]
        most = tool.options.memory_limit_mb
        return SandboxSpec(
            command=[_place(word) if word in command.scripts else word for word in command.fill(values)],
            limits=self._limits if most is None else replace(self._limits, memory_mb=most),
            mounts=mounts,
            files={_place(word): body for word, body in command.scripts.items()},
            folder=HOME if mounts else _TEMPORARY,
            stdin=store_bytes(command.write_input(shown), theirs),
        )


async def _run_until_cut(backend: SandboxBackend, spec: SandboxSpec, out: KeptOutput) -> ProgramEnd:
    """Run a command until it ends, or its output exceeds what is kept."""

    def take(piece: bytes) -> None:
        out.add(piece)
        if out.is_cut:
            running.kill()

    running = Confined(backend, replace(spec, out=take))
    return await run_within(running, _FOR_EVER)


def _name_missing(tool: CompiledTool, spec: SandboxSpec) -> ToolException | None:
    """Explain that the program is missing on this machine, if that is why nothing ran."""
    program = spec.command[0]
    if program.startswith(_SCRIPTS) or shutil.which(program, path=PATH) is not None:
        return None
    return ToolException(f"Error: {tool.name} runs the program {program}, which is not on this server.")


def _place(script: str) -> str:
    return f"{_SCRIPTS}/{os.path.basename(script)}"


def _find_workspaces(tool: CompiledTool, values: Mapping[str, Any]) -> Iterator[Path]:
    for name in tool.hidden_names:
        place = getattr(values.get(name), "directory", None)
        if isinstance(place, Path):
            yield place


def _read_output(tool: CompiledTool, out: KeptOutput) -> Any:
    text = b"".join(out.read()).decode(errors="replace")
    if tool.output_schema is None or tool.output_schema.get("type") == "string":
        return text.removesuffix("\n")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ToolOutputError(f"Error: {tool.name} has not printed JSON, as it should.") from None

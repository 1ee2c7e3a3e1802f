"""The sandbox of this machine: detected when first needed, and tested before anything runs in it."""

import asyncio
import logging
import os
import shlex
import stat
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sidecall.features.sandbox.shell_state import ShellBounds, ShellStates
from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.ports.sandbox import (
    HOME,
    PLAIN,
    CommandEnd,
    CommandStart,
    OpenSpill,
    PythonEnd,
    PythonTier,
    SandboxFailed,
    SandboxLimits,
    SandboxReport,
    SandboxUse,
)
from sidecall.lazy_imports import Later

if TYPE_CHECKING:
    from sidecall.features.sandbox.detection import SandboxSupport
    from sidecall.features.sandbox.shell import Shell

# What makes sandboxes, and runs commands and Python in them; and the Python that needs none, with its library.
_detection, _monty = Later("sidecall.features.sandbox.detection"), Later("sidecall.features.sandbox.monty")


class Python(Protocol):
    """Runs pieces of Python."""

    async def run(self, code: str, directory: Path, seconds: float) -> PythonEnd:
        """Run one."""

    async def close(self) -> None:
        """End all that runs."""


logger = logging.getLogger("sidecall")

_LIMITS = SandboxLimits()
_NOT_NEEDED = SandboxReport(reason="it was not needed yet")
_NO_COMMANDS = "Commands cannot be run on this server: {}. Its operator has to change that; go on without them."
_NO_PYTHON = "Python cannot be run on this server: {}. Its operator has to change that; go on without it."
_NO_MONTY = "`sidecall[python]` is not installed: pip install 'sidecall[python]'"
# With one of these characters a command may do more than it seems, so it needs approval.
_SPECIAL = frozenset("\0;&|<>()$`\\\n\r*?[]{}~#!\"'=")


class LocalSandbox:
    """Runs commands and Python of models on this machine, confined as well as possible."""

    def __init__(
        self,
        limits: SandboxLimits = _LIMITS,
        python_tier: PythonTier = "monty",
        allowed: Sequence[str] = (),
        output: int = 65_536,
        waiting: int = 0,
    ) -> None:
        """Prepare; nothing is tested or started before it is needed.

        Args:
            limits: The limits of sandboxed programs.
            python_tier: The kind of Python.
            allowed: Prefixes of commands that need no approval.
            output: Bytes of each output that are kept.
            waiting: Workspaces in which a shell waits for the next command.
        """
        self.limits = limits
        self.python_tier: PythonTier = python_tier
        self._allowed = tuple(words for text in allowed if (words := text.split()))
        self._output = output
        self._waiting = waiting
        self._support: asyncio.Task[SandboxSupport] | None = None
        self._shell: Shell | None = None
        self._python: Python | None = None

    @cached_property
    def _states(self) -> ShellStates:
        return ShellStates()

    def allows(self, command: str) -> bool:
        """Return whether a command is plain words that begin as an allowed one."""
        if not self._allowed or _SPECIAL.intersection(command):
            return False
        try:
            words = shlex.split(command)
        except ValueError:
            return False
        return any(words[: len(allowed)] == allowed for allowed in self._allowed)

    def begin(self) -> None:
        """Start the self-test in the background; calls that need the sandbox wait for its result."""
        if self._support is None:
            self._support = asyncio.get_running_loop().create_task(self._try())

    async def open(self) -> "SandboxSupport":
        """Return this machine's sandbox support, after the self-test."""
        self.begin()
        assert self._support is not None
        return await outlast(self._support)

    async def find_report(self) -> SandboxReport:
        """Return the report of a self-test that has begun, once it is done; None if none has begun."""
        return _NOT_NEEDED if self._support is None else (await self.open()).report

    def is_tried_for(self, use: SandboxUse) -> bool:
        """Return whether a use depends on the self-test."""
        return use != "python" or self.python_tier != "monty"

    async def explain_lack(self, use: SandboxUse | None) -> str | None:
        """Return why the sandbox does not suffice for a use; None if it does."""
        if use is None:
            return None
        if not self.is_tried_for(use):
            return None if find_spec("pydantic_monty") is not None else _NO_MONTY
        report = (await self.open()).report
        runs = report.runs_python if use == "python" else report.runs_commands
        return None if runs else report.reason

    async def run_command(self, command: str, directory: Path, seconds: float, open_spill: OpenSpill) -> CommandEnd:
        """Run a command with this directory as `/workspace`, in the state that its last command left.

        Raises:
            ToolException: Commands cannot run in a sandbox here.
        """
        if self._shell is None:
            lack = await self.explain_lack("commands")
            support = await self.open()
            if lack is not None or support.backend is None:
                raise ToolException(_NO_COMMANDS.format(lack))
            self._shell = support.open_shell(self.limits, self._states, self._waiting)
        try:
            bounds = ShellBounds(seconds=seconds, output=self._output)
            # A command without approval runs as if it were the first, so that earlier ones cannot replace its program.
            is_plain = self.allows(command)
            return await self._shell.run(command, directory, bounds, open_spill, is_plain=is_plain)
        except SandboxFailed as error:
            raise ToolException(_NO_COMMANDS.format(error.message)) from error
        finally:
            _unlock(directory)

    def find_start(self, directory: Path) -> CommandStart:
        """Return the directory and the variables in which the next command begins."""
        state = self._states.read(directory)
        changed = {name: value for name, value in state.variables.items() if PLAIN.get(name) != value}
        return CommandStart(os.fsdecode(state.folder) or HOME, changed)

    def restart(self, directory: Path) -> None:
        """Forget where the last command of this directory has ended."""
        self._states.forget(directory)

    async def run_python(self, code: str, directory: Path, seconds: float) -> PythonEnd:
        """Run Python with this directory as `/workspace`.

        Raises:
            ToolException: Python cannot run in a sandbox here.
        """
        try:
            python = self._python or await self._start_python()
            return await python.run(code, directory, seconds)
        except SandboxFailed as error:
            raise ToolException(_NO_PYTHON.format(error.message)) from error
        finally:
            _unlock(directory)

    async def close(self) -> None:
        """End all that runs."""
        if self._support is not None and not self._support.done():
            self._support.cancel()
            with suppress(asyncio.CancelledError):
                await self._support
        if self._shell is not None:
            await self._shell.close()
        if self._python is not None:
            await self._python.close()
        if self._support is not None and not self._support.cancelled():
            backend = self._support.result().backend
            if backend is not None:
                await backend.launcher.close()

    async def _try(self) -> "SandboxSupport":
        try:
            opened: SandboxSupport = await _detection.open_sandbox(self.limits)
        except Exception as error:  # Any error: what could not be tested runs nothing.
            logger.exception("the sandbox could not be tried")
            opened = _detection.SandboxSupport(SandboxReport(reason=f"it could not be tried ({type(error).__name__})"))
        _log_report(opened.report)
        return opened

    async def _start_python(self) -> Python:
        lack = await self.explain_lack("python")
        if lack is not None:
            raise ToolException(_NO_PYTHON.format(lack))
        if self._python is None:
            self._python = await self._make_python()
        return self._python

    async def _make_python(self) -> Python:
        if self.python_tier == "monty":
            made: Python = _monty.MontyPython(self.limits)
            return made
        return (await self.open()).open_python()


def _unlock(directory: Path) -> None:
    """Restore access to a workspace whose permissions a program has removed; it belongs to the server."""
    with suppress(OSError):
        if directory.stat().st_mode & stat.S_IRWXU != stat.S_IRWXU:
            directory.chmod(stat.S_IRWXU)


def _log_report(report: SandboxReport) -> None:
    if report.profile == "none":
        logger.warning("there is no sandbox on this machine: %s", report.reason)
        return
    passed = ", ".join(check.name for check in report.checks)
    logger.info("the sandbox is %s: %s", report.profile, passed)
    if report.reason:
        logger.warning("the sandbox is not the strongest: %s", report.reason)

"""Find out which kind of sandbox this machine has, the strongest first."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from sidecall.features.sandbox.bubblewrap import SandboxBackend, find_program
from sidecall.features.sandbox.cgroups import find_groups
from sidecall.features.sandbox.landlock import NEEDED, read_version
from sidecall.features.sandbox.python_programs import StartProgram, starter_in_bubblewrap, starter_with_landlock
from sidecall.features.sandbox.python_sessions import PythonSessions
from sidecall.features.sandbox.seccomp import build_filter, is_known_machine
from sidecall.features.sandbox.self_test import try_sandbox
from sidecall.features.sandbox.shell import Shell
from sidecall.features.sandbox.shell_state import ShellStates
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.ports.sandbox import SandboxCheck, SandboxFailed, SandboxLimits, SandboxReport

_NO_GROUP = (
    "bubblewrap: the server runs as root, where only a cgroup bounds processes, and may make none. "
    "Run it as another user, or let it write its cgroup"
)

_NO_NAMESPACES = "; it needs user namespaces, which containers forbid by default, as docs/sandbox.md says"
# Bubblewrap's message where namespaces are forbidden.
_FORBIDDEN = ("namespace", "clone", "uid map", "Operation not permitted", "RTM_NEWADDR")


class NoSandbox(Exception):
    """The machine has no sandbox of a kind; the message says why, and what it needs."""


@dataclass(frozen=True, slots=True)
class SandboxSupport:
    """How this machine can make sandboxes; without a `backend` commands cannot run."""

    report: SandboxReport
    backend: SandboxBackend | None = None
    start_python: StartProgram | None = None

    def open_shell(self, limits: SandboxLimits, states: ShellStates, waiting: int) -> Shell:
        """Open what runs commands; `waiting` is the number of workspaces in which a shell waits for the next one."""
        assert self.backend is not None
        return Shell(self.backend, limits, states, waiting)

    def open_python(self) -> PythonSessions:
        """Open what runs Python."""
        assert self.start_python is not None
        return PythonSessions(self.start_python)


async def open_sandbox(limits: SandboxLimits) -> SandboxSupport:
    """Return the strongest kind that this machine has, once it has been tried."""
    reasons = []
    for open_kind in (open_bubblewrap, open_landlock):
        try:
            opened = await open_kind(limits)
        except NoSandbox as error:
            reasons.append(str(error))
        else:
            report = SandboxReport(opened.report.profile, opened.report.checks, "; ".join(reasons))
            return SandboxSupport(report, opened.backend, opened.start_python)
    return SandboxSupport(SandboxReport(reason="; ".join(reasons)))


async def open_bubblewrap(limits: SandboxLimits) -> SandboxSupport:
    """Return the support for bubblewrap sandboxes.

    Raises:
        NoSandbox: They cannot be made, or fail a probe.
    """
    if sys.platform != "linux":
        raise NoSandbox("bubblewrap runs on Linux only")
    groups = await SERVER.run(find_groups)
    if os.geteuid() == 0 and groups is None:
        raise NoSandbox(_NO_GROUP)
    try:
        # It runs the program for its version, which may take long.
        program = await SERVER.run(find_program)
    except LookupError as error:
        raise NoSandbox(str(error.args[0])) from None
    backend = SandboxBackend(program, build_filter() if is_known_machine() else None, groups)
    try:
        return await _try_bubblewrap(backend, limits)
    except BaseException:
        await backend.launcher.close()
        raise


async def _try_bubblewrap(backend: SandboxBackend, limits: SandboxLimits) -> SandboxSupport:
    start = starter_in_bubblewrap(backend, limits)
    try:
        checks = await try_sandbox(start, may_fork=True)
    except SandboxFailed as error:
        why = _NO_NAMESPACES if any(word in error.message for word in _FORBIDDEN) else ""
        raise NoSandbox(f"bubblewrap does not start ({error.message}){why}") from error
    _require_all("bubblewrap", checks)
    return SandboxSupport(SandboxReport("bubblewrap", checks), backend, start)


async def open_landlock(limits: SandboxLimits) -> SandboxSupport:
    """Return a starter for Python with Landlock; it does not suit programs that start others, such as shells.

    Raises:
        NoSandbox: The kernel lacks it, or it fails a probe.
    """
    if sys.platform != "linux" or not is_known_machine():
        raise NoSandbox("Landlock is known here for Linux on x86_64 and aarch64 only")
    version = read_version()
    if version < NEEDED:
        raise NoSandbox(f"Landlock: the kernel has version {version} of it, and {NEEDED} is needed (Linux 6.12)")
    start = starter_with_landlock(limits)
    try:
        checks = await try_sandbox(start, may_fork=False)
    except SandboxFailed as error:
        raise NoSandbox(f"Landlock: {error.message}") from error
    _require_all("Landlock", checks)
    return SandboxSupport(SandboxReport("landlock", checks), None, start)


def _require_all(kind: str, checks: Iterable[SandboxCheck]) -> None:
    found = [check.found for check in checks if not check.passed]
    if found:
        raise NoSandbox(f"{kind} lets through what it must not: {'; '.join(found)}")

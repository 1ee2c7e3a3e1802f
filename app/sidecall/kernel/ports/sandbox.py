"""Sandbox types: limits, reports and results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from sidecall.kernel.core.errors import SidecallError

#: The path of the files that programs share with the caller.
HOME = "/workspace"
PATH = "/usr/local/bin:/usr/bin:/bin"
#: The environment variables of programs.
PLAIN = {"PATH": PATH, "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108  the sandbox's own

SandboxProfile = Literal["bubblewrap", "landlock", "none"]

_MB = 1024 * 1024


class SandboxFailed(SidecallError):
    """A sandbox could not be made; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """Resource limits of one sandbox.

    `memory_mb` is for each process, and for all together where the server can use a cgroup. `file_mb` bounds each file
    written, `temporary_mb` each in-memory folder.
    """

    memory_mb: int = 512
    processes: int = 64
    file_mb: int = 32
    temporary_mb: int = 64
    open_files: int = 256

    @property
    def memory_bytes(self) -> int:
        """The memory limit in bytes."""
        return self.memory_mb * _MB

    @property
    def file_bytes(self) -> int:
        """The file size limit in bytes."""
        return self.file_mb * _MB

    @property
    def temporary_bytes(self) -> int:
        """The limit of an in-memory folder in bytes."""
        return self.temporary_mb * _MB


@dataclass(frozen=True, slots=True)
class SandboxCheck:
    """One test of a sandbox: an action that it must block, and whether it did."""

    name: str
    passed: bool
    found: str = ""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The kind of sandbox that this machine supports, as tested at start.

    `reason` says why there is none or not the strongest kind, and what that would need.
    """

    profile: SandboxProfile = "none"
    checks: tuple[SandboxCheck, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def runs_commands(self) -> bool:
        """Whether programs may start other programs, as a shell does."""
        return self.profile == "bubblewrap"

    @property
    def runs_python(self) -> bool:
        """Whether Python may run."""
        return self.profile != "none"


class CommandEnd(Struct, frozen=True, kw_only=True):
    """The result of a command.

    Of each output there is the head and the tail, which is empty if nothing was cut; `sizes` are the full sizes, and
    `files` the paths of outputs that were cut. Without an exit code the command timed out.
    """

    stdout: tuple[bytes, bytes]
    stderr: tuple[bytes, bytes]
    sizes: tuple[int, int]
    exit_code: int | None
    files: tuple[str, ...] = ()


class PythonEnd(Struct, frozen=True, kw_only=True):
    """The result of a piece of Python.

    `value` is the repr of its last line, if that is an expression. `lost` says why the variables of earlier pieces are
    gone.
    """

    stdout: str = ""
    value: str | None = None
    error: str | None = None
    lost: str | None = None


class CommandStart(Struct, frozen=True):
    """The start directory of a command, and the variables that earlier commands left."""

    folder: str
    variables: Mapping[str, str]


PythonTier = Literal["monty", "cpython"]
# Opens a file of the caller's for an output, by a name; returns its descriptor and what the caller calls it.
OpenSpill = Callable[[str], tuple[int, str] | None]


class CommandSandbox(Protocol):
    """Runs commands without access to other files, processes and networks."""

    def allows(self, command: str) -> bool:
        """Return whether the operator allows a command without approval."""

    async def run_command(self, command: str, directory: Path, seconds: float, open_spill: OpenSpill) -> CommandEnd:
        """Run a command with this directory as `/workspace`, after the directory's previous one has ended.

        Raises:
            ToolException: There is no sandbox in which commands may run.
        """

    def find_start(self, directory: Path) -> CommandStart:
        """Return the start directory and the variables for the next command of this directory."""

    def restart(self, directory: Path) -> None:
        """Reset the state of this directory's commands."""


class PythonSandbox(Protocol):
    """Runs Python without access to other files, processes and networks."""

    @property
    def python_tier(self) -> PythonTier:
        """The Python that runs: `monty`, an interpreter without any system access, or `cpython` in a sandbox."""

    async def run_python(self, code: str, directory: Path, seconds: float) -> PythonEnd:
        """Run Python with this directory as `/workspace`.

        Raises:
            ToolException: There is no sandbox in which it may run.
        """


# What a tool needs a sandbox for.
SandboxUse = Literal["functions", "commands", "python"]


class Sandbox(CommandSandbox, PythonSandbox, Protocol):
    """The sandbox of a server."""

    async def find_report(self) -> SandboxReport:
        """Return the report, once its tests are done."""

    async def explain_lack(self, use: SandboxUse | None) -> str | None:
        """Return why this use of the sandbox is impossible here, once known; None if it works."""

"""The words of sandboxes: what bounds a program there, and what became of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

SandboxProfile = Literal["bubblewrap", "landlock", "none"]

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """What the programs of one sandbox may take.

    `memory_mb` is for each of its processes, and for all together where the server can have a cgroup. `file_mb` bounds
    each file that they write, `temporary_mb` each of their folders in memory.
    """

    memory_mb: int = 512
    processes: int = 64
    file_mb: int = 32
    temporary_mb: int = 64
    open_files: int = 256

    @property
    def memory_bytes(self) -> int:
        """The memory in bytes."""
        return self.memory_mb * _MB

    @property
    def file_bytes(self) -> int:
        """The size of a file in bytes."""
        return self.file_mb * _MB

    @property
    def temporary_bytes(self) -> int:
        """The size of a folder in memory in bytes."""
        return self.temporary_mb * _MB


@dataclass(frozen=True, slots=True)
class SandboxCheck:
    """One thing that a sandbox has to forbid, and whether it did."""

    name: str
    passed: bool
    found: str = ""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """Which kind of sandbox this machine has, as it was tried when the server started.

    `reason` says why it is none, or not the strongest, and what it would need.
    """

    profile: SandboxProfile = "none"
    checks: tuple[SandboxCheck, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def runs_commands(self) -> bool:
        """Whether programs may start others there, as a shell does."""
        return self.profile == "bubblewrap"

    @property
    def runs_python(self) -> bool:
        """Whether Python may run there."""
        return self.profile != "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEnd:
    """What came of a command.

    Of each output there are its beginning and its end, which is empty where nothing is left out; `sizes` are those of
    the whole outputs, and `files` the paths at which those that were cut can be read. Without an exit code its time was
    up.
    """

    stdout: tuple[bytes, bytes]
    stderr: tuple[bytes, bytes]
    sizes: tuple[int, int]
    exit_code: int | None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonEnd:
    """What came of a piece of Python.

    `value` is that of its last line, where that is an expression, as Python writes it. `lost` says why what earlier
    pieces had set is gone.
    """

    stdout: str = ""
    value: str | None = None
    error: str | None = None
    lost: str | None = None


@dataclass(frozen=True, slots=True)
class CommandStart:
    """Where a command would begin, and the variables that earlier ones have left it."""

    folder: str
    variables: Mapping[str, str]


PythonTier = Literal["monty", "cpython"]
# Opens a file of the caller's for an output, by a name; returns its descriptor and what the caller calls it.
OpenSpill = Callable[[str], tuple[int, str] | None]


class CommandSandbox(Protocol):
    """Runs commands of models where they reach no files, processes and networks but their own."""

    def allows(self, command: str) -> bool:
        """Return whether the operator lets a command run without asking a person."""

    async def run_command(self, command: str, directory: Path, seconds: float, open_spill: OpenSpill) -> CommandEnd:
        """Run a command with this directory as `/workspace`, where the last one of this directory has ended.

        Raises:
            ToolException: There is no sandbox in which commands may run.
        """

    def find_start(self, directory: Path) -> CommandStart:
        """Return where the next command of this directory begins, and what variables it finds of earlier ones."""

    def restart(self, directory: Path) -> None:
        """Forget where the last command of this directory has ended."""


class PythonSandbox(Protocol):
    """Runs Python of models where it reaches no files, processes and networks but its own."""

    @property
    def python_tier(self) -> PythonTier:
        """Which Python runs: `monty`, an interpreter that has no system at all, or `cpython` in a sandbox."""

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
        """Return which kind it is, and how it was tried, once a trial that has begun is over."""

    async def explain_lack(self, use: SandboxUse | None) -> str | None:
        """Return why what a sandbox is used for cannot be done here, once that is known; None where it can."""

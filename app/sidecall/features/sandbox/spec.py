"""Specs of sandboxed programs: what is to run, and its limits."""

import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sidecall.features.sandbox.bubblewrap import HOME, Mount, bind_system
from sidecall.features.sandbox.cgroups import Groups
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.ports.sandbox import SandboxLimits

#: Called with each piece of an output.
Take = Callable[[bytes], None]


class SandboxFailed(SidecallError):
    """A sandbox could not be made; the message says why."""


class Running(Protocol):
    """A program in a sandbox."""

    async def begin(self) -> None:
        """Let it run.

        Raises:
            SandboxFailed: It cannot run.
        """

    async def wait(self) -> int | None:
        """Wait until all processes are gone; return the exit code, None if it never began."""

    def read_on(self) -> None:
        """Read at once what it has written so far."""

    def kill(self) -> None:
        """Kill all processes."""

    def close(self) -> None:
        """Start to release its resources; it is killed if it still runs."""

    async def wait_closed(self) -> None:
        """Wait until nothing of it is left, once it is closed."""

    @property
    def trouble(self) -> str:
        """Why it did not start."""


def ignore(_: bytes) -> None:
    """Discard output."""


@dataclass(frozen=True, slots=True)
class SandboxBackend:
    """How this machine makes sandboxes.

    `program` is bubblewrap's path, `system_calls` a filter of system calls. With `groups` each sandbox is a cgroup.
    `system` are bubblewrap's arguments for the system's folders.
    """

    program: str
    system_calls: bytes | None = None
    groups: Groups | None = None
    system: tuple[str, ...] = field(default_factory=bind_system)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """What is to run, and with which files.

    `files` are created in the sandbox. `stdin` is the program's input, None for an empty one; `given` are other
    descriptors of ours that it inherits under the same numbers.
    """

    command: Sequence[str]
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    mounts: Sequence[Mount] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    folder: str = HOME
    variables: Mapping[str, str] = field(default_factory=dict)
    stdin: int | None = None
    given: Sequence[int] = ()
    out: Take = ignore
    err: Take = ignore


def list_limits(limits: SandboxLimits, *, is_grouped: bool) -> Iterator[tuple[int, int]]:
    """Yield each resource limit with its value.

    Without a cgroup, memory that processes share counts for each of them. No limit exceeds this process's own, which
    could not be set.
    """
    for kind, most in _list_wanted(limits, is_grouped=is_grouped):
        hard = resource.getrlimit(kind)[1]
        yield kind, most if hard == resource.RLIM_INFINITY else min(most, hard)


def _list_wanted(limits: SandboxLimits, *, is_grouped: bool) -> Iterator[tuple[int, int]]:
    yield resource.RLIMIT_NPROC, limits.processes
    yield resource.RLIMIT_DATA if is_grouped else resource.RLIMIT_AS, limits.memory_bytes
    yield resource.RLIMIT_FSIZE, limits.file_bytes
    yield resource.RLIMIT_NOFILE, limits.open_files
    yield resource.RLIMIT_CORE, 0
    yield resource.RLIMIT_MEMLOCK, 0
    yield resource.RLIMIT_MSGQUEUE, 0

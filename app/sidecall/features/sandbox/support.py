"""Find out which kind of sandbox this machine has, the strongest first."""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from sidecall.features.sandbox.bubblewrap import SandboxBackend, SandboxFailed, find_program
from sidecall.features.sandbox.cgroups import find_groups
from sidecall.features.sandbox.python_programs import StartProgram, starter_in_bubblewrap, starter_with_landlock
from sidecall.features.sandbox.self_test import try_sandbox
from sidecall.features.sandbox.system_calls import build_filter, is_known_machine
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.ports.sandbox import SandboxCheck, SandboxLimits, SandboxReport

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
        backend = SandboxBackend(program, build_filter() if is_known_machine() else None, groups)
        start = starter_in_bubblewrap(backend, limits)
        checks = await try_sandbox(start, may_fork=True)
    except LookupError as error:
        raise NoSandbox(str(error.args[0])) from None
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


_CREATE, _ADD, _RESTRICT = 444, 445, 446

_VERSION_FLAG = 1

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2

_PATH_RULE = 1

_CAPABILITIES = 0x20080522
# Access rights by the version of the interface that introduced them.
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3

_FIRST_FILES = (1 << 13) - 1

_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15

_TCP = 0b11

_SCOPES = 0b11

_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL

_READING = _EXECUTE | _READ | _LIST
# Signals to other processes are confined since this version, with abstract sockets.
NEEDED = 6


def read_version() -> int:
    """Return the version of the kernel's interface, 0 where there is none."""
    found: int = _LIBC.syscall(_CREATE, None, 0, _VERSION_FLAG)
    return max(0, found)


def confine(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Drop access to files except below these paths, to TCP, and to signalling other processes.

    Raises:
        OSError: The system refuses it.
    """
    handled = _FIRST_FILES | _REFER | _TRUNCATE | _IOCTL
    rules = struct.pack("QQQ", handled, _TCP, _SCOPES)
    ruleset = _check(_LIBC.syscall(_CREATE, rules, len(rules), 0))
    for places, access in ((readable, _READING), (writable, handled & ~_IOCTL)):
        for place in places:
            _allow(ruleset, place, access)
    give_up_privileges()
    _check(_LIBC.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def give_up_privileges() -> None:
    """Prevent children from gaining privileges, as setuid programs do."""
    _check(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def give_up_capabilities() -> None:
    """Drop root's capabilities except reading and writing its own files."""
    head, none = struct.pack("Ii", _CAPABILITIES, 0), bytes(24)
    _check(_LIBC.capset(head, none))


def filter_calls(program: bytes) -> None:
    """Filter each system call of this process from now on.

    Raises:
        OSError: The system refuses it.
    """
    body = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(body))
    _check(_LIBC.prctl(_SECCOMP, _FILTER, head, 0, 0))


def _allow(ruleset: int, place: str, access: int) -> None:
    try:
        fd = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        is_folder = os.path.isdir(place)
        rule = struct.pack("=Qi", access if is_folder else access & _OF_FILES, fd)
        _check(_LIBC.syscall(_ADD, ruleset, _PATH_RULE, rule, 0))
    finally:
        os.close(fd)


def _check(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


_LIBC = ctypes.CDLL(None, use_errno=True)

_LIBC.syscall.restype = ctypes.c_long

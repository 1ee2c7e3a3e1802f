"""Landlock: a process drops access to files, network and signals, for itself and its children."""

import ctypes
import os
import struct
from collections.abc import Iterable

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

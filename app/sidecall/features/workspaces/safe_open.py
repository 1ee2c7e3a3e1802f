"""Open files below a folder so that no path, link or other process can lead out of it.

`openat2(2)` resolves the whole path in the kernel, where nothing can be changed between looking and opening. Without
it, each folder of the path is opened in turn, never through a link.
"""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

# openat2 has this number on every architecture.
_OPENAT2 = 437
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_RESOLVE = _BENEATH | _NO_LINKS | _NO_MAGIC_LINKS
# Errors of a kernel without it, or of a container that forbids it.
_ABSENT = frozenset((errno.ENOSYS, errno.EPERM))
# The kernel asks for a retry where folders were moved meanwhile.
_MOST_TRIES = 100
FOLDER = os.O_RDONLY | os.O_DIRECTORY
#: Opens without side effects: a descriptor that only identifies the entry.
PLACE: int = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)
_CURRENT = -100  # The kernel's AT_FDCWD.

Opener = Callable[[int, Sequence[str], int, int], int]


class _How(ctypes.Structure):
    """The kernel's `struct open_how`."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def choose_opener() -> Opener:
    """Return the way to open files on this machine: by the kernel at once, or folder by folder."""
    if sys.platform != "linux":
        return open_stepwise
    try:
        os.close(open_at_once(_CURRENT, (), PLACE | os.O_DIRECTORY, 0))
    except OSError as error:
        if error.errno in _ABSENT:
            return open_stepwise
    return open_at_once


def open_root(directory: Path) -> int:
    """Open the folder of a workspace; restore access that a program has removed.

    Raises:
        OSError: It cannot be opened.
    """
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    place = os.open(directory, PLACE | os.O_DIRECTORY | flags)
    try:
        with suppress(OSError):  # It belongs to another user, who has set its permissions.
            make_accessible(place)
    finally:
        os.close(place)
    return os.open(directory, FOLDER | flags)


def make_accessible(place: int) -> None:
    """Give the server full access to its own folder, given a descriptor.

    Raises:
        OSError: It belongs to another user.
    """
    if os.fstat(place).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        # A path-only descriptor cannot be changed, but the folder behind it can.
        os.chmod(f"/proc/self/fd/{place}", stat.S_IRWXU)


def open_at_once(root: int, parts: Sequence[str], flags: int, mode: int) -> int:
    """Open a path below a folder by `openat2`.

    Raises:
        OSError: It cannot be opened; ELOOP for a link on the way.
    """
    path = "/".join(parts).encode() or b"."
    how = _How(flags | os.O_CLOEXEC, mode if flags & os.O_CREAT else 0, _RESOLVE)
    for _ in range(_MOST_TRIES):
        found: int = _load_call()(_OPENAT2, root, path, ctypes.byref(how), ctypes.sizeof(how))
        if found >= 0:
            return found
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(number, os.strerror(number))


def open_stepwise(root: int, parts: Sequence[str], flags: int, mode: int) -> int:
    """Open a path below a folder by opening each folder on the way, without following links.

    Raises:
        OSError: It cannot be opened; ELOOP or ENOTDIR for a link on the way.
    """
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    if not parts:
        return os.open(".", flags, mode, dir_fd=root)
    place = os.dup(root)
    try:
        for name in parts[:-1]:
            below = os.open(name, PLACE | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
            os.close(place)
            place = below
        return os.open(parts[-1], flags, mode, dir_fd=place)
    finally:
        os.close(place)


@cache
def _load_call() -> Callable[..., int]:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    return call

"""Paths as models write them: `/workspace/a/b` and `a/b` are the same."""

import ctypes
import errno
import os
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Literal

from sidecall.kernel.core.errors import ToolException

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


FileProblem = Literal["missing", "exists", "not_a_file", "refused", "too_large", "quota", "unwritable"]

_OUTSIDE = "{path} is a link or leads through one. Links are not followed: use the path of the file itself."

_SPECIAL = "{path} is not an ordinary file, and is not opened."

_FULL = "There is no space left for files. Delete some of them first."

_NO_DISK = "There is no space left on the server's disk. Delete files that are not needed, or try again later."

_UNWRITABLE = "The server cannot write its folder for files. Its operator has to change that; go on without files."

NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT))
# System errors, and their messages for a model.
_WORDS: dict[int, tuple[FileProblem, str]] = {
    errno.ENOENT: ("missing", "There is nothing at {path}."),
    errno.ENOTDIR: ("not_a_file", "{path} is not a folder, or leads through a file."),
    errno.EISDIR: ("not_a_file", "{path} is a folder, not a file."),
    errno.EEXIST: ("exists", "There is already something at {path}."),
    errno.ENOTEMPTY: ("exists", "There is already a folder with files at {path}."),
    errno.EXDEV: ("refused", _OUTSIDE),
    errno.ELOOP: ("refused", _OUTSIDE),
    errno.ENXIO: ("refused", _SPECIAL),
    errno.ENODEV: ("refused", _SPECIAL),
    errno.EAGAIN: ("refused", "The folders of {path} are being moved. Try again."),
    errno.ENAMETOOLONG: ("refused", "The path is too long."),
    errno.EINVAL: ("refused", "That cannot be done with {path}."),
    errno.EACCES: ("refused", "{path} may not be opened. Its permissions forbid it."),
    errno.EPERM: ("refused", "{path} may not be changed. Its permissions forbid it."),
    errno.EBUSY: ("refused", "{path} is in use."),
    errno.EMLINK: ("quota", _FULL),
    errno.ENOSPC: ("quota", _NO_DISK),
    errno.EDQUOT: ("quota", _FULL),
    errno.EFBIG: ("too_large", "{path} would be too large."),
    errno.EROFS: ("unwritable", _UNWRITABLE),
    errno.EIO: ("unwritable", _UNWRITABLE),
}


class WorkspaceError(ToolException):
    """Something cannot be done with a file of the workspace; `problem` says why in one word."""

    def __init__(self, problem: FileProblem, message: str, *, retryable: bool = False) -> None:
        super().__init__(message, retryable=retryable)
        self.problem = problem

    def __reduce__(self) -> tuple[Callable[..., "WorkspaceError"], tuple[FileProblem, str, bool]]:
        return _make, (self.problem, self.message, self.retryable)


def _make(problem: FileProblem, message: str, retryable: bool) -> WorkspaceError:
    return WorkspaceError(problem, message, retryable=retryable)


def refuse_folder(error: OSError) -> WorkspaceError:
    """Return the error for a model when the server's workspace folder cannot take another one."""
    if error.errno in NO_ROOM:
        return WorkspaceError("quota", _NO_DISK, retryable=True)
    return WorkspaceError("unwritable", _UNWRITABLE)


def refuse_removed() -> WorkspaceError:
    """Return the error of a workspace that others remove again and again."""
    return WorkspaceError("exists", "The workspace is being removed again and again. Try again.", retryable=True)


@contextmanager
def workspace_errors(path: str) -> Iterator[None]:
    """Convert system errors to WorkspaceErrors about this path; unexpected ones pass unchanged."""
    try:
        yield
    except OSError as error:
        if error.errno not in _WORDS:
            raise
        problem, text = _WORDS[error.errno]
        raise WorkspaceError(problem, text.format(path=path), retryable=error.errno in NO_ROOM) from None


#: What a model takes for the folder's place.
HOME = "/workspace"
#: Added to errors about paths that lead elsewhere.
EXAMPLE = f"{HOME}/notes.txt"

MOST_BYTES = 4096

MOST_NAME_BYTES = 255
#: Maximum depth of folders; deeper entries are not counted, and only programs make them.
MOST_LEVELS = 200
#: The prefix of names of files that are being written.
UNFINISHED = ".sidecall-"
# Control characters, lone surrogates, and characters that break lines or change the text direction.
_CATEGORIES = frozenset(("Cc", "Cs", "Zl", "Zp"))

_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def split_path(path: str) -> tuple[str, ...]:
    """Split a path into names; none for the workspace itself.

    Raises:
        WorkspaceError: It leads elsewhere, or has invalid names.
    """
    if len(path) > MOST_BYTES or len(path.encode(errors="replace")) > MOST_BYTES:
        raise _refuse(f"The path is too long: it may have {MOST_BYTES} bytes.")
    if not path.isascii() or not path.isprintable():
        _require_plain(path)
    parts = path.split("/")
    if path.startswith("/"):
        if parts[1] != HOME[1:]:
            raise _refuse(f"Only files in {HOME} can be reached. Use a path such as {EXAMPLE}.")
        parts = parts[2:]
    names = tuple(part for part in parts if part not in ("", "."))
    if len(names) > MOST_LEVELS:
        raise _refuse(f"The path leads through too many folders: it may have {MOST_LEVELS} names.")
    for name in names:
        _require_name(name)
    return names


def join_path(parts: tuple[str, ...]) -> str:
    """Write a path as models and programs read it."""
    return "/".join((HOME, *parts))


def has_no_controls(name: str) -> bool:
    """Return whether a name is one that paths may have."""
    return all(unicodedata.category(it) not in _CATEGORIES and it not in _TURNING for it in name)


def _require_plain(path: str) -> None:
    if not has_no_controls(path):
        raise _refuse("The path must not contain control characters.")


def _require_name(name: str) -> None:
    if name == "..":
        raise _refuse(f"The path must not contain `..`. Write the whole path, such as {EXAMPLE}.")
    if len(name) > MOST_NAME_BYTES // 4 and len(name.encode()) > MOST_NAME_BYTES:
        raise _refuse(f"A name in the path is too long: it may have {MOST_NAME_BYTES} bytes.")
    if name.startswith(UNFINISHED):
        raise _refuse(f"Names must not begin with `{UNFINISHED}`.")


def _refuse(text: str) -> WorkspaceError:
    return WorkspaceError("refused", text)

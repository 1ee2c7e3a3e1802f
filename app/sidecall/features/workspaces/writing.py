"""Read and replace files in open folders."""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress

from sidecall.features.workspaces.entries import require_ordinary
from sidecall.features.workspaces.errors import WorkspaceError
from sidecall.features.workspaces.removing import make_unfinished_name
from sidecall.features.workspaces.safe_open import FOLDER, Opener

_PIECE = 1024 * 1024
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_USUAL = 0o644


def find_entry(folder: int, name: str) -> os.stat_result | None:
    """Return the entry of a name in an open folder, without following links; None where there is none."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def read_part(opened: int, start: int, limit: int) -> bytes:
    """Read so many bytes of an open file, or as many as there are."""
    pieces = []
    while limit > 0 and (piece := os.pread(opened, min(limit, _PIECE), start)):
        pieces.append(piece)
        start += len(piece)
        limit -= len(piece)
    return b"".join(pieces)


def require_replaceable(path: str, before: os.stat_result | None, create_only: bool) -> None:
    """Refuse to replace anything but a regular file, or anything at all.

    Raises:
        WorkspaceError: There is one.
    """
    if before is None:
        return
    require_ordinary(path, before)
    if stat.S_ISDIR(before.st_mode):
        raise WorkspaceError("not_a_file", f"{path} is a folder, not a file.")
    if create_only:
        raise WorkspaceError("exists", f"There is already a file at {path}.")


def put_file(
    folder: int, name: str, content: bytes, before: os.stat_result | None, create_only: bool
) -> os.stat_result:
    """Put a whole file into a folder, keeping the permissions of an existing one.

    A concurrent write counts as earlier, unless the file has to be new.

    Raises:
        FileExistsError: It has to be new, and now there is another.
        OSError: It cannot be written.
    """
    if create_only:  # From here on only this process makes it.
        os.close(os.open(name, _NEW, _USUAL, dir_fd=folder))
    unfinished = make_unfinished_name()
    try:
        status = _fill(os.open(unfinished, _NEW, _USUAL, dir_fd=folder), content, before)
        os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _forget(folder, unfinished)
        if create_only:
            _forget(folder, name)
        raise
    return status


def make_folders(root: int, parts: Sequence[str], opener: Opener, take_room: Callable[[], None]) -> int:
    """Open the folder at these names below an open one, making missing ones.

    Raises:
        OSError: They cannot be made or opened.
        WorkspaceError: There is no room for one.
    """
    place = os.dup(root)
    try:
        for name in parts:
            if find_entry(place, name) is None:
                take_room()
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=place)
            below = opener(place, (name,), FOLDER, 0)
            os.close(place)
            place = below
    except BaseException:
        os.close(place)
        raise
    return place


def _fill(opened: int, content: bytes, before: os.stat_result | None) -> os.stat_result:
    try:
        if before is not None:
            os.fchmod(opened, stat.S_IMODE(before.st_mode) & 0o777)
        view = memoryview(content)
        while view:
            view = view[os.write(opened, view) :]
        return os.fstat(opened)
    finally:
        os.close(opened)


def _forget(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:  # It was not made.
        return

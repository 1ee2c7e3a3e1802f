"""Read and replace files in open folders."""

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress

from sidecall.features.workspaces.entries import require_ordinary
from sidecall.features.workspaces.paths import FOLDER, PLACE, UNFINISHED, Opener, WorkspaceError, make_accessible

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


_HELD_FAST = os.O_NOFOLLOW | os.O_CLOEXEC
# How many times a folder is emptied while a program keeps writing into it.
_MOST_TRIES = 5


def make_unfinished_name() -> str:
    """Make a name that no path may have and nothing else has."""
    return UNFINISHED + secrets.token_hex(8)


def remove_below(top: int, parent: int, name: str) -> None:
    """Remove a file or folder from the open folder `parent`, which is `top` or lies below it.

    A folder is moved away at once, and emptied afterwards. Nested folders are moved up before they are emptied, so that
    depth costs neither descriptors nor long paths.

    Raises:
        OSError: It cannot be moved; what could not be emptied is removed with the workspace.
    """
    if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=parent)
        return
    aside = _move_up(top, parent, name)
    waiting = [(aside, 0)]
    while waiting:
        folder, tries = waiting.pop()
        with suppress(OSError):
            waiting += [(below, 0) for below in _clear(top, folder)]
            try:
                os.rmdir(folder, dir_fd=top)
            except OSError:
                if tries < _MOST_TRIES:
                    waiting.insert(0, (folder, tries + 1))


def empty_folder(top: int) -> None:
    """Remove all that lies in an open folder."""
    with os.scandir(top) as found:
        names = [entry.name for entry in found]
    for name in names:
        with suppress(OSError):
            remove_below(top, top, name)


def _clear(top: int, name: str) -> list[str]:
    """Delete the files of a folder of `top`, and move its folders up; return their new names."""
    moved = []
    folder = os.open(name, FOLDER | _HELD_FAST, dir_fd=top)
    try:
        with os.scandir(folder) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for entry, is_folder in entries:
            with suppress(OSError):
                if is_folder:
                    moved.append(_move_up(top, folder, entry))
                else:
                    os.unlink(entry, dir_fd=folder)
    finally:
        os.close(folder)
    return moved


def _move_up(top: int, parent: int, name: str) -> str:
    """Move a folder to `top` under a unique name, with the permissions that emptying it needs."""
    place = os.open(name, PLACE | os.O_DIRECTORY | _HELD_FAST, dir_fd=parent)
    try:
        make_accessible(place)
    finally:
        os.close(place)
    aside = make_unfinished_name()
    os.rename(name, aside, src_dir_fd=parent, dst_dir_fd=top)
    return aside

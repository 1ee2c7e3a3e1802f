"""Remove folders with their content, without following links and at any depth."""

import os
import secrets
import stat
from contextlib import suppress

from sidecall.features.workspaces.paths import UNFINISHED
from sidecall.features.workspaces.safe_open import FOLDER, PLACE, make_accessible

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

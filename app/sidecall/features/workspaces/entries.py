"""List or walk the entries of a workspace."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from sidecall.features.workspaces.paths import UNFINISHED, WorkspaceError, has_no_controls, join_path


class Entry(Struct, frozen=True):
    """A file or folder of a workspace: path, size, and time of change (seconds since 1970)."""

    path: str
    is_folder: bool
    size: int
    modified: float

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]


def describe_entry(parts: tuple[str, ...], status: os.stat_result) -> Entry:
    """Make the entry of a path.

    Raises:
        WorkspaceError: It is neither a folder nor a regular file with one name.
    """
    require_ordinary(join_path(parts), status)
    is_folder = stat.S_ISDIR(status.st_mode)
    return Entry(join_path(parts), is_folder, 0 if is_folder else status.st_size, status.st_mtime)


def require_ordinary(path: str, status: os.stat_result) -> None:
    """Refuse all but folders and regular files with one name.

    Raises:
        WorkspaceError: It is something else.
    """
    if stat.S_ISLNK(status.st_mode):
        raise WorkspaceError("refused", f"{path} is a link. Links are not followed: use the path of the file itself.")
    if not is_ordinary(status):
        many = stat.S_ISREG(status.st_mode)
        what = "has a second name (a hard link), and is not opened" if many else "is not an ordinary file"
        raise WorkspaceError("refused", f"{path} {what}.")


def is_ordinary(status: os.stat_result) -> bool:
    """Return whether it is a folder, or a file that is kept nowhere else."""
    return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink <= 1)


def find_entries(
    open_folder: Callable[[Sequence[str]], int],
    start: tuple[str, ...],
    depth: int | None,
    hidden: bool,
    most: int,
) -> Iterator[Entry]:
    """List the entries below a folder in the order of names, each folder before its content.

    Args:
        open_folder: Opens a folder of the workspace by its path of names.
        start: The names of the folder's path.
        depth: Levels to descend; None: all.
        hidden: Whether to include names that begin with a dot.
        most: Maximum entries that are examined.
    """
    reading = _Reading(hidden, most)
    waiting = [(parts, entry, 1) for parts, entry in reversed(reading.read(open_folder(start), start))]
    while waiting:
        parts, entry, level = waiting.pop()
        yield entry
        if entry.is_folder and (depth is None or level < depth) and reading.left > 0:
            try:
                folder = open_folder(parts)
            except OSError:  # It has gone, or is closed.
                continue
            waiting += [(inner, found, level + 1) for inner, found in reversed(reading.read(folder, parts))]


class _Reading:
    """Reads folders until so many entries were examined, links and hidden ones included."""

    def __init__(self, hidden: bool, most: int) -> None:
        self._skipped = UNFINISHED if hidden else "."
        self.left = most

    def read(self, folder: int, parts: tuple[str, ...]) -> list[tuple[tuple[str, ...], Entry]]:
        """Read the entries of an open folder, and close it."""
        found = []
        try:
            with os.scandir(folder) as entries:
                for entry in islice(entries, self.left):
                    self.left -= 1
                    inner = (*parts, entry.name)
                    if entry.name.startswith(self._skipped):
                        continue
                    status = _look(entry) if has_no_controls(entry.name) else None
                    if status is not None and is_ordinary(status):
                        found.append((inner, describe_entry(inner, status)))
        finally:
            os.close(folder)
        return sorted(found, key=lambda it: it[0][-1])


def _look(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None

"""What lies in a workspace, as a list or one after the other."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sidecall.features.workspaces.errors import WorkspaceError
from sidecall.features.workspaces.paths import UNFINISHED, has_no_controls, join_path


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder of a workspace: where it is, how large, and when it was changed (seconds since 1970)."""

    path: str
    is_folder: bool
    size: int
    modified: float

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]


def describe_entry(parts: tuple[str, ...], status: os.stat_result) -> Entry:
    """Make the entry of what was found there.

    Raises:
        WorkspaceError: It is neither a folder nor an ordinary file with one name.
    """
    require_ordinary(join_path(parts), status)
    is_folder = stat.S_ISDIR(status.st_mode)
    return Entry(join_path(parts), is_folder, 0 if is_folder else status.st_size, status.st_mtime)


def require_ordinary(path: str, status: os.stat_result) -> None:
    """Refuse what is neither a folder nor an ordinary file with one name.

    Raises:
        WorkspaceError: It is such.
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
    """Find what lies below a folder, each folder before what is in it, in the order of names.

    Args:
        open_folder: Opens a folder of the workspace by the names that lead to it.
        start: The folder's.
        depth: How many levels to go down; None: all.
        hidden: Whether names count that begin with a dot.
        most: How many entries are looked at.
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
    """Reads folders until so many entries were looked at, of every kind: links, and what is hidden, with them."""

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


def _look(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None

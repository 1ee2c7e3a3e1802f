"""What lies in a workspace, as a list or one after the other."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence

from sidecall.records import dataclass
from sidecall.workspace.errors import WorkspaceError
from sidecall.workspace.paths import UNFINISHED, has_no_controls, join_path


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
    waiting = [(parts, entry, 1) for parts, entry in reversed(_read_folder(open_folder(start), start, hidden, most))]
    seen = len(waiting)
    while waiting:
        parts, entry, level = waiting.pop()
        yield entry
        if entry.is_folder and (depth is None or level < depth) and seen < most:
            try:
                folder = open_folder(parts)
            except OSError:  # It has gone, or is closed.
                continue
            below = _read_folder(folder, parts, hidden, most - seen)
            seen += len(below)
            waiting += [(inner, found, level + 1) for inner, found in reversed(below)]


def _read_folder(folder: int, parts: tuple[str, ...], hidden: bool, most: int) -> list[tuple[tuple[str, ...], Entry]]:
    """Read the entries of an open folder, and close it."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                inner = (*parts, entry.name)
                if entry.name.startswith(UNFINISHED if hidden else "."):
                    continue
                status = _look(entry) if has_no_controls(entry.name) else None
                if status is not None and is_ordinary(status):
                    found.append((inner, describe_entry(inner, status)))
                if len(found) >= most:
                    break
    finally:
        os.close(folder)
    return sorted(found, key=lambda it: it[0][-1])


def _look(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None

"""How much a workspace may hold, and how much it holds."""

import errno
import os
import stat
from collections.abc import Callable, Sequence

from sidecall.records import dataclass
from sidecall.workspace.errors import WorkspaceError
from sidecall.workspace.paths import MOST_LEVELS, UNFINISHED

MEGABYTE = 1024 * 1024
# A folder has gone meanwhile, or there is something else in its place.
_GONE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP))


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the files of one workspace may take together, what one of them may, and how many they may be."""

    total_bytes: int = 256 * MEGABYTE
    file_bytes: int = 32 * MEGABYTE
    entries: int = 10_000

    def require_file(self, size: int) -> None:
        """Refuse a file that is larger than one may be.

        Raises:
            WorkspaceError: It is.
        """
        if size > self.file_bytes:
            raise WorkspaceError("too_large", f"A file may have {write_size(self.file_bytes)} at most.")

    def require_room(self, held: "Held", size: int = 0, entries: int = 0) -> None:
        """Refuse what does not fit beside what is there.

        Raises:
            WorkspaceError: It does not.
        """
        if not held.is_whole:
            text = "Some folders cannot be counted, since they lie too deep or are closed. Delete them first."
            raise WorkspaceError("quota", text)
        if held.size + size > self.total_bytes:
            room = write_size(self.total_bytes)
            raise WorkspaceError("quota", f"The workspace may hold {room}, and is full. Delete files first.")
        if held.entries + entries > self.entries:
            text = f"The workspace may hold {self.entries} files and folders, and does. Delete some first."
            raise WorkspaceError("quota", text)


@dataclass(frozen=True, slots=True)
class Held:
    """What a workspace holds; not `is_whole` where something in it could not be counted, or it is far too much."""

    size: int
    entries: int
    is_whole: bool = True


def count_held(open_folder: Callable[[Sequence[str]], int], most_entries: int) -> Held:
    """Count all that lies in a workspace, whatever it is; stop counting at more entries than these."""
    size = entries = 0
    is_whole = True
    folders: list[tuple[str, ...]] = [()]
    while folders and entries <= most_entries:
        parts = folders.pop()
        if len(parts) > MOST_LEVELS:
            return Held(size, entries, is_whole=False)
        try:
            folder = open_folder(parts)
        except OSError as error:
            is_whole = is_whole and error.errno in _GONE
            continue
        try:
            with os.scandir(folder) as found:
                for entry in found:
                    status = _look(entry)
                    if status is None:
                        continue
                    entries += not entry.name.startswith(UNFINISHED)
                    if stat.S_ISDIR(status.st_mode):
                        folders.append((*parts, entry.name))
                    else:
                        size += status.st_size
        finally:
            os.close(folder)
    return Held(size, entries, is_whole)


def _look(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # It has gone meanwhile.
        return None


def write_size(size: int) -> str:
    """Write a number of bytes as people say it."""
    for unit, name in ((MEGABYTE, "MB"), (1024, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"

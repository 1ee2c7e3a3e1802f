"""The bounds of a workspace, and its present size."""

from dataclasses import dataclass

from sidecall.features.workspaces.errors import WorkspaceError

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class WorkspaceLimits:
    """The bounds of a workspace: bytes in all, bytes of one file, number of files."""

    total_bytes: int = 256 * MEGABYTE
    file_bytes: int = 32 * MEGABYTE
    entries: int = 10_000

    def require_file(self, size: int) -> None:
        """Refuse a file that exceeds the bound.

        Raises:
            WorkspaceError: It does.
        """
        if size > self.file_bytes:
            raise WorkspaceError("too_large", f"A file may have {write_size(self.file_bytes)} at most.")

    def require_room(self, held: "DiskUsage", size: int = 0, entries: int = 0) -> None:
        """Refuse an addition that exceeds the bounds.

        Raises:
            WorkspaceError: It does.
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
class DiskUsage:
    """The size of a workspace; not `is_whole` if something could not be counted.

    Counting stops once a bound is exceeded.
    """

    size: int
    entries: int
    is_whole: bool = True


def write_size(size: int) -> str:
    """Write a number of bytes as people say it."""
    for unit, name in ((MEGABYTE, "MB"), (1024, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"

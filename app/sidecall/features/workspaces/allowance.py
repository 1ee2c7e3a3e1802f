"""How much a workspace may hold, and how much it holds."""

from dataclasses import dataclass

from sidecall.features.workspaces.errors import WorkspaceError

MEGABYTE = 1024 * 1024


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
    """What a workspace holds; not `is_whole` where something in it could not be counted.

    Counting stops where a bound is passed, so that of far too much the first part is known.
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

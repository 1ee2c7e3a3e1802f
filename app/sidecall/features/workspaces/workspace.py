"""The files of one conversation, by paths as models write them."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from sidecall.features.workspaces.entries import Entry, describe_entry, find_entries, require_ordinary
from sidecall.features.workspaces.limits import Counts, DiskUsage, WorkspaceLimits
from sidecall.features.workspaces.paths import (
    FOLDER,
    PLACE,
    WorkspaceError,
    choose_opener,
    join_path,
    open_root,
    split_path,
    workspace_errors,
)
from sidecall.features.workspaces.writing import (
    find_entry,
    make_folders,
    put_file,
    read_part,
    remove_below,
    require_replaceable,
)
from sidecall.kernel.ports.workspaces import ConversationFolder


class ClaimedFolder:
    """A folder that stays open even if it is moved.

    Attributes:
        claim: The claim that keeps it from being cleared.
        root_fd: Its descriptor.
    """

    def __init__(self, directory: Path, claim: object) -> None:
        """Open a folder that is there."""
        self.claim = claim
        self._directory = directory
        self.root_fd = open_root(directory)

    @property
    def directory(self) -> Path:
        """The folder on this machine, for mounting it into a sandbox only; it moves when the workspace is removed."""
        return getattr(self.claim, "files", self._directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its descriptor; it cannot be used afterwards."""
        root, self.root_fd = getattr(self, "root_fd", -1), -1
        if root >= 0:
            os.close(root)

    __del__ = close


_WRITING = os.O_WRONLY | os.O_RDWR

_KNOWN = _WRITING | os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_APPEND | os.O_DIRECTORY | os.O_CLOEXEC

_QUIET = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_MOST_TRIES = 10

_NO_ALLOWANCE = WorkspaceLimits()


class Workspace(ClaimedFolder, ConversationFolder):
    """A folder of files that tools and sandboxes share; no path leads out of it.

    Paths are as models write them: `/workspace/a` and `a` are the same. Links are never followed, not even new ones,
    and only regular files are opened. Results and errors name no path outside.

    Attributes:
        is_kept: Whether its files are kept after the call: it belongs to a conversation.
        is_uncounted: Whether uncounted bytes may have been written.
    """

    def __init__(
        self,
        directory: Path,
        allowance: WorkspaceLimits = _NO_ALLOWANCE,
        claim: object = None,
        counts: Counts | None = None,
    ) -> None:
        """Open the workspace in an existing folder, and keep `claim` while this is used.

        `counts` is shared by all users of the same workspaces.
        """
        super().__init__(directory, claim)
        self.is_kept = getattr(claim, "is_passing", True) is False
        self.is_uncounted = False
        self.allowance = allowance
        self._opener = choose_opener()
        self._counts = counts or Counts()
        self._held: DiskUsage | None = None

    def __reduce__(self) -> tuple[type["Workspace"], tuple[Path, WorkspaceLimits]]:
        return Workspace, (self.directory, self.allowance)

    def open(self, path: str, flags: int, mode: int = 0o644) -> int:
        """Open a regular file, or with `os.O_DIRECTORY` a folder, and return its descriptor.

        Args:
            path: The path of the file.
            flags: Flags of `os.open` for reading, writing, creating, truncating and appending.
            mode: The permissions of a new file.

        Raises:
            WorkspaceError: It is missing, or cannot be opened.
        """
        if flags & ~_KNOWN:
            raise ValueError("A workspace opens files for reading, writing, creating, cutting and appending only.")
        parts = split_path(path)
        shown = join_path(parts)
        if flags & (_WRITING | os.O_CREAT):
            self._require_room(0, 1 if flags & os.O_CREAT and not self.is_there(path) else 0)
            self._held, self.is_uncounted = None, True  # Writes through the descriptor are not counted.
        with workspace_errors(shown):
            # Truncated only after a check of its type: another name of the file may be outside.
            opened = self._opener(self.root_fd, parts, (flags & ~os.O_TRUNC) | _QUIET, mode & 0o777)
        try:
            status = os.fstat(opened)
            require_ordinary(shown, status)
            if stat.S_ISDIR(status.st_mode) and not flags & os.O_DIRECTORY:
                raise WorkspaceError("not_a_file", f"{shown} is a folder, not a file.")
            if flags & os.O_TRUNC:
                os.ftruncate(opened, 0)
        except BaseException:
            os.close(opened)
            raise
        return opened

    def read_bytes(self, path: str, start: int = 0, limit: int | None = None) -> bytes:
        """Read a file, or a part of it.

        Args:
            path: The path of the file.
            start: The first byte to read.
            limit: Maximum bytes to read; None for all, up to the bound of a file.

        Raises:
            WorkspaceError: It is missing, not a file, or too large.
        """
        opened = self.open(path, os.O_RDONLY)
        try:
            if limit is None:
                self.allowance.require_file(os.fstat(opened).st_size - start)
            return read_part(opened, start, self.allowance.file_bytes if limit is None else limit)
        finally:
            os.close(opened)

    def write_bytes(self, path: str, content: bytes, create_only: bool = False, parents: bool = True) -> Entry:
        """Write a file atomically: readers see the old or the new one.

        Args:
            path: The path of the file; an existing one is replaced and keeps its permissions.
            content: The whole content.
            create_only: Refuse to replace an existing file.
            parents: Make missing folders on the way.

        Raises:
            WorkspaceError: The file is not written.
        """
        parts = self._split(path)
        self.allowance.require_file(len(content))
        tries = 0
        while True:
            tries += 1
            try:
                return self._write(parts, content, create_only, parents)
            except WorkspaceError as error:  # A folder that is deleted during the write is made again.
                self._held = None
                if error.problem != "missing" or not parents or tries == _MOST_TRIES:
                    raise

    def _write(self, parts: tuple[str, ...], content: bytes, create_only: bool, parents: bool) -> Entry:
        shown = join_path(parts)
        folder = self._open_folder(parts[:-1], make=parents)
        try:
            with workspace_errors(shown):
                before = find_entry(folder, parts[-1])
                require_replaceable(shown, before, create_only)
                self._take_room(len(content) - (before.st_size if before else 0), 0 if before else 1)
                return describe_entry(parts, put_file(folder, parts[-1], content, before, create_only))
        finally:
            os.close(folder)

    def delete(self, path: str) -> None:
        """Delete a file, a folder with its content, or a link itself.

        Raises:
            WorkspaceError: It is missing, or may not be deleted.
        """
        parts = self._split(path)
        self._held = None
        folder = self._open_folder(parts[:-1])
        try:
            with workspace_errors(join_path(parts)):
                remove_below(self.root_fd, folder, parts[-1])
        finally:
            os.close(folder)

    def rename(self, old: str, new: str) -> None:
        """Move a file or folder, making missing folders on the way.

        Raises:
            WorkspaceError: The old one is missing, or the new one exists.
        """
        source, target = self._split(old), self._split(new)
        self.look_at(old)
        if target[: len(source)] == source and target != source:
            raise WorkspaceError("refused", "A folder cannot be moved into itself.")
        origin = self._open_folder(source[:-1])
        try:
            folder = self._open_folder(target[:-1], make=True)
            try:
                with workspace_errors(join_path(target)):
                    if find_entry(folder, target[-1]) is not None:
                        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
                    os.rename(source[-1], target[-1], src_dir_fd=origin, dst_dir_fd=folder)
            finally:
                os.close(folder)
        finally:
            os.close(origin)

    def make_folder(self, path: str) -> None:
        """Make a folder and its parents; an existing one stays.

        Raises:
            WorkspaceError: A file is in the way, or there is no room.
        """
        os.close(self._open_folder(split_path(path), make=True))

    def look_at(self, path: str) -> Entry:
        """Return the entry of a path, without opening it.

        Raises:
            WorkspaceError: It is missing, or neither a folder nor a regular file.
        """
        parts = split_path(path)
        with workspace_errors(join_path(parts)):
            place = self._opener(self.root_fd, parts, PLACE, 0)
            try:
                return describe_entry(parts, os.fstat(place))
            finally:
                os.close(place)

    def is_there(self, path: str) -> bool:
        """Return whether a path exists.

        Raises:
            WorkspaceError: The path itself is refused.
        """
        try:
            self.look_at(path)
        except WorkspaceError as error:
            if error.problem not in ("missing", "not_a_file"):
                raise
            return False
        return True

    def list_entries(self, path: str = "", depth: int = 1, hidden: bool = False) -> list[Entry]:
        """List the entries below a folder in the order of names, each folder before its content.

        Args:
            path: The folder; None for the workspace.
            depth: Levels to descend.
            hidden: Whether to list names that begin with a dot.

        Raises:
            WorkspaceError: It is missing, or not a folder.
        """
        parts = split_path(path)
        with workspace_errors(join_path(parts)):
            return list(find_entries(self._open_below, parts, depth, hidden, self.allowance.entries))

    def walk(self, path: str = "", hidden: bool = True) -> Iterator[Entry]:
        """Yield all entries below a folder, each folder before its content.

        Raises:
            WorkspaceError: It is missing, or not a folder.
        """
        parts = split_path(path)
        with workspace_errors(join_path(parts)):
            yield from find_entries(self._open_below, parts, None, hidden, self.allowance.entries)

    def require_room(self, size: int = 0, entries: int = 0) -> None:
        """Refuse to continue when the workspace is full, before and after a command that may write.

        Args:
            size: Bytes to be added.
            entries: Files and folders to be added.

        Raises:
            WorkspaceError: The workspace is full.
        """
        self._held = None if self.is_uncounted else self._held
        self.is_uncounted = True
        self._require_room(size, entries)

    def _require_room(self, size: int, entries: int) -> None:
        if self._held is None:
            self._held = self._counts.count(self.root_fd, self._open_below, self.allowance)
        self.allowance.require_room(self._held, size, entries)

    def _take_room(self, size: int, entries: int) -> None:
        if size > 0 or entries > 0:
            self._require_room(max(0, size), entries)
        if self._held is not None:
            self._held = DiskUsage(self._held.size + size, self._held.entries + entries)

    def _split(self, path: str) -> tuple[str, ...]:
        """Return the names of a path to something in the workspace."""
        parts = split_path(path)
        if not parts:
            raise WorkspaceError("not_a_file", f"{join_path(())} is the workspace itself. Name a file in it.")
        return parts

    def _open_below(self, parts: Sequence[str]) -> int:
        return self._opener(self.root_fd, parts, FOLDER, 0)

    def _open_folder(self, parts: tuple[str, ...], make: bool = False) -> int:
        """Open a folder; `make` a missing one."""
        with workspace_errors(join_path(parts)):
            try:
                return self._open_below(parts)
            except FileNotFoundError:
                if not make:
                    raise
                return make_folders(self.root_fd, parts, self._opener, partial(self._take_room, 0, 1))

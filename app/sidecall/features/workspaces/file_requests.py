"""File operations of routes, with errors in words for programs."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice

from sidecall.features.workspaces.claims import Claim, locking
from sidecall.features.workspaces.entries import Entry
from sidecall.features.workspaces.paths import FOLDER, FileProblem, WorkspaceError, workspace_errors
from sidecall.features.workspaces.steps import read_file_id, show_file
from sidecall.features.workspaces.uploads import DeletedFile, FileListing, ShownFile, ShownWorkspace, show_workspace
from sidecall.features.workspaces.workspace import Workspace
from sidecall.features.workspaces.workspaces import Workspaces
from sidecall.features.workspaces.writing import make_unfinished_name
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import BodyTooLarge, InvalidParameter, RequestError
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.file_errors import FileConflict, InvalidFile, TooManyFiles, UnknownFile, UnknownWorkspace

_NAME = "sent"


def read_sent(workspace: Workspace) -> frozenset[str]:
    """Return the paths of the files that programs have sent."""
    with suppress(OSError), _open_parent(workspace) as folder:
        return _read(folder)
    return frozenset()


def note_sent(workspace: Workspace, path: str) -> None:
    """Note that a file was uploaded; deleted files are dropped from the record.

    Raises:
        WorkspaceError: The record cannot be written.
    """
    with workspace_errors(path), _open_parent(workspace) as folder, locking(folder):
        kept = sorted({path, *(it for it in _read(folder) if _is_there(workspace, it))})
        unfinished = make_unfinished_name()
        opened = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
        with os.fdopen(opened, "w") as file:
            json.dump(kept, file)
        os.rename(unfinished, _NAME, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def _open_parent(workspace: Workspace) -> Iterator[int]:
    """Open the folder above a workspace's files, even after it was moved."""
    folder = os.open("..", FOLDER | os.O_CLOEXEC, dir_fd=workspace.root_fd)
    try:
        yield folder
    finally:
        os.close(folder)


def _read(folder: int) -> frozenset[str]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(FileNotFoundError, ValueError), os.fdopen(os.open(_NAME, flags, dir_fd=folder)) as file:
        return frozenset(json.load(file))
    return frozenset()


def _is_there(workspace: Workspace, path: str) -> bool:
    with suppress(WorkspaceError):  # For instance that of a link, which a program has put there.
        return workspace.is_there(path)
    return False


_PROBLEMS: Mapping[FileProblem, type[RequestError]] = {
    "missing": UnknownFile,
    "exists": FileConflict,
    "not_a_file": FileConflict,
    "refused": InvalidFile,
    "too_large": BodyTooLarge,
    "quota": TooManyFiles,
    "unwritable": StoreUnavailable,
}


@dataclass(frozen=True, slots=True)
class FilesOf:
    """The files of one conversation of the caller's tenant; other tenants' are answered as unknown."""

    places: Workspaces
    caller: Caller
    conversation: str

    def show(self) -> ShownWorkspace:
        """Describe the workspace.

        Raises:
            UnknownWorkspace: There is none.
        """
        return show_workspace(self._find(), self.conversation, self.places.expiry)

    def keep_for(self, minutes: int) -> ShownWorkspace:
        """Set the minutes without use after which the workspace expires; make a missing one.

        Raises:
            InvalidParameter: The time is too long.
        """
        most = int(self.places.expiry.hard // 60)
        if minutes > most:
            raise InvalidParameter(f"`expires_after.minutes` is {most} at most: no workspace is kept for longer here.")
        with _in_problems():
            workspace = self.places.open(self.caller.tenant, self.conversation)
        assert isinstance(workspace.claim, Claim)
        workspace.claim.keep_for(60.0 * minutes)
        return show_workspace(workspace, self.conversation, self.places.expiry)

    def remove(self) -> None:
        """Remove the workspace.

        Raises:
            UnknownWorkspace: There is none.
        """
        with _in_problems():
            was_there = self.places.remove(self.caller.tenant, self.conversation)
        if not was_there:
            raise UnknownWorkspace

    def put(self, path: str, body: bytes) -> ShownFile:
        """Write an uploaded file; make a missing workspace.

        Raises:
            RequestError: The file cannot be written.
        """
        with _in_problems():
            workspace = self.places.open(self.caller.tenant, self.conversation)
            entry = workspace.write_bytes(path, body)
            note_sent(workspace, entry.path)
        return self._show(entry, frozenset((entry.path,)))

    def list(self, after: str | None, limit: int) -> FileListing:
        """List files after the one with this id.

        Raises:
            RequestError: There is no workspace, or no such file.
        """
        workspace = self._find()
        sent = read_sent(workspace)
        found = sorted((it for it in workspace.walk() if not it.is_folder), key=lambda it: it.path)
        if after is not None:
            last = _read_id(after)
            found = [entry for entry in found if entry.path > last]
        data = [self._show(entry, sent) for entry in islice(found, limit)]
        ends = (data[0].id, data[-1].id) if data else (None, None)
        return FileListing(data=data, first_id=ends[0], last_id=ends[1], has_more=len(found) > limit)

    def find(self, file_id: str) -> tuple[Workspace, Entry, ShownFile]:
        """Find a file.

        Raises:
            UnknownFile: There is none, or no workspace.
        """
        path = _read_id(file_id)
        try:
            workspace = self._find()
            entry = workspace.look_at(path)
        except (WorkspaceError, UnknownWorkspace):
            raise UnknownFile from None
        if entry.is_folder:
            raise UnknownFile
        return workspace, entry, self._show(entry, read_sent(workspace))

    def read(self, file_id: str, wanted: slice | None = None) -> bytes:
        """Read a file, or some of its bytes.

        Raises:
            RequestError: There is no such file, or it is too large.
        """
        workspace, entry, _ = self.find(file_id)
        with _in_problems():
            if wanted is None:
                return workspace.read_bytes(entry.path)
            return workspace.read_bytes(entry.path, wanted.start, wanted.stop - wanted.start)

    def delete(self, file_id: str) -> DeletedFile:
        """Delete a file.

        Raises:
            UnknownFile: There is none.
        """
        workspace, entry, _ = self.find(file_id)
        with _in_problems():
            workspace.delete(entry.path)
        return DeletedFile(id=file_id)

    def _find(self) -> Workspace:
        with _in_problems():
            found = self.places.find(self.caller.tenant, self.conversation)
        if found is None:
            raise UnknownWorkspace
        return found

    def _show(self, entry: Entry, sent: frozenset[str]) -> ShownFile:
        source = "user" if entry.path in sent else "assistant"
        return ShownFile.model_validate(show_file(entry, self.conversation, source))


def _read_id(file_id: str) -> str:
    path = read_file_id(file_id)
    if path is None:
        raise UnknownFile
    return path


@contextmanager
def _in_problems() -> Iterator[None]:
    """Convert errors of files to problems for the client."""
    try:
        yield
    except WorkspaceError as error:
        raise _PROBLEMS[error.problem](error.message) from None

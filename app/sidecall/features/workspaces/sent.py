"""Which files of a workspace were uploaded by programs, rather than made by tools."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sidecall.features.workspaces.claims import locking
from sidecall.features.workspaces.paths import WorkspaceError, workspace_errors
from sidecall.features.workspaces.safe_open import FOLDER
from sidecall.features.workspaces.workspace import Workspace
from sidecall.features.workspaces.writing import make_unfinished_name

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

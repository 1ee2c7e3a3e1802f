"""Make the changes of a patch, all of them or none."""

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from sidecall.features.file_tools.patching.planning import PlannedFile
from sidecall.features.workspaces.errors import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace

_MOST_WAIT = 10.0
_PAUSE = 0.005


@contextmanager
def hold_workspace(workspace: Workspace) -> Iterator[None]:
    """Lock a workspace for edits, across processes.

    Models send several edits of one file at once, and each must see the result of the one before.
    """
    folder = workspace.open("", os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(folder)
        yield
    finally:
        os.close(folder)


def _lock(folder: int) -> None:
    # A sandboxed program may hold the lock forever.
    deadline = time.monotonic() + _MOST_WAIT
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise WorkspaceError("refused", "Another program holds the workspace. Try again.") from None
            time.sleep(_PAUSE)
        else:
            return


def commit_plan(workspace: Workspace, planned: Sequence[PlannedFile]) -> None:
    """Apply a plan; if one change fails, undo those before it.

    Raises:
        WorkspaceError: A change failed, and nothing has changed.
    """
    # A file that is changed twice gets its last planned text; removals come at the end.
    last = {file.path: file.text for file in planned}
    before: list[tuple[str, bytes | None]] = []
    try:
        for path, text in sorted(last.items(), key=lambda it: it[1] is None):
            old = workspace.read_bytes(path) if workspace.is_there(path) else None
            if text is None and old is None:
                continue
            before.append((path, old))
            if text is None:
                workspace.delete(path)
            else:
                workspace.write_bytes(path, text.encode())
    except WorkspaceError:
        for path, old in reversed(before):
            with suppress(WorkspaceError):
                _put_back(workspace, path, old)
        raise


def _put_back(workspace: Workspace, path: str, old: bytes | None) -> None:
    if old is not None:
        workspace.write_bytes(path, old)
    elif workspace.is_there(path):
        workspace.delete(path)

"""A patch changes all its files or none, and edits of one file wait for each other."""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from sidecall.features.file_tools.editing import editor
from sidecall.features.file_tools.editing.editor import commit_plan, hold_workspace
from sidecall.features.file_tools.patching.applying import PlannedFile
from sidecall.features.workspaces.limits import WorkspaceLimits
from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace


def read_all(folder: Path) -> dict[str, str]:
    """Read all files of a folder."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_and_deleted(workspace: Workspace) -> None:
    """In the end each is as it was planned last."""
    plan = [
        PlannedFile("a.py", "x\n", ""),
        PlannedFile("new/b.py", "b\n", ""),
        PlannedFile("a.py", None, ""),
        PlannedFile("bare.txt", None, ""),
        PlannedFile("bare.txt", "again", ""),
        PlannedFile("never.py", None, ""),
    ]

    commit_plan(workspace, plan)

    files = read_all(workspace.directory)
    assert "a.py" not in files
    assert (files["new/b.py"], files["bare.txt"]) == ("b\n", "again")


def test_what_fails_is_undone(tmp_path: Path) -> None:
    """Here because there is no room for the last one."""
    (tmp_path / "a").write_text("a")
    (tmp_path / "gone").write_text("gone")
    with Workspace(tmp_path, WorkspaceLimits(total_bytes=20)) as workspace:
        plan = [PlannedFile("gone", None, ""), PlannedFile("a", "aaa", ""), PlannedFile("b", "b", "")]

        with pytest.raises(WorkspaceError, match="full"):
            commit_plan(workspace, [*plan, PlannedFile("c", "c" * 30, "")])

    assert read_all(tmp_path) == {"a": "a", "gone": "gone"}


def test_edits_wait_for_each_other(workspace: Workspace) -> None:
    """None is lost."""
    workspace.write_bytes("count", b"0")

    def count() -> None:
        with Workspace(workspace.directory) as own:
            for _ in range(10):
                with hold_workspace(own):
                    own.write_bytes("count", str(int(own.read_bytes("count")) + 1).encode())

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert workspace.read_bytes("count") == b"40"


def test_nobody_waits_for_ever(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in a sandbox could hold its folder."""
    monkeypatch.setattr(editor, "_MOST_WAIT", 0.01)
    holder = os.open(workspace.directory, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(WorkspaceError, match="Another program holds the workspace"), hold_workspace(workspace):
            pass
    finally:
        os.close(holder)
    with hold_workspace(workspace):
        pass

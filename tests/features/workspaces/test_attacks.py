"""Paths, links and special files that would lead out of a workspace: all are refused for each use."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace
from tests.features.workspaces.attacks import PLANTED, TEXTS, USES
from tests.features.workspaces.conftest import SECRET


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: ascii(path[:40]))
def test_a_path_that_leads_out_is_refused(workspace: Workspace, path: str) -> None:
    """No matter what it is used for, and before anything is looked at."""
    for name, use in {**USES, "delete": Workspace.delete}.items():
        with pytest.raises(WorkspaceError) as caught:
            use(workspace, path)
        assert caught.value.problem == "refused", name
    with pytest.raises(WorkspaceError):
        workspace.rename("a", path)


@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_refused(workspace: Workspace, outside: Path, name: str) -> None:
    """Nothing is read, written or moved through it; what lies outside stays as it is."""
    path, plant = PLANTED[name]
    plant(workspace.directory / "x", outside)

    for use in USES.values():
        with pytest.raises(WorkspaceError) as caught:
            _use(use, workspace, path)
        assert caught.value.problem in ("refused", "not_a_file", "exists")
        assert str(outside.parent) not in caught.value.message
    assert [entry.path for entry in workspace.walk() if entry.path.endswith("/secret")] == []
    assert (outside / "secret").read_bytes() == SECRET
    assert os.listdir(outside) == ["secret"]


def _use(use: Callable[[Workspace, str], object], workspace: Workspace, path: str) -> None:
    if use(workspace, path) is False:  # As `is_there` says of a path that leads through no folder.
        raise WorkspaceError("refused", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="devices are made by root")
def test_a_device_is_not_opened(workspace: Workspace) -> None:
    """It would never end, or do something."""
    os.mknod(workspace.directory / "zero", 0o666 | 0o020000, os.makedev(1, 5))

    with pytest.raises(WorkspaceError, match="not an ordinary file"):
        workspace.read_bytes("zero")


def test_deleting_takes_the_link_and_not_what_it_leads_to(workspace: Workspace, outside: Path) -> None:
    """Also in a folder that is deleted, and where it is the only thing there."""
    (workspace.directory / "a").mkdir()
    (workspace.directory / "a/x").symlink_to(outside)
    (workspace.directory / "x").symlink_to(outside)
    os.link(outside / "secret", workspace.directory / "y")

    for path in ("a", "x", "y"):
        workspace.delete(path)

    assert workspace.list_entries(hidden=True) == []
    assert (outside / "secret").read_bytes() == SECRET

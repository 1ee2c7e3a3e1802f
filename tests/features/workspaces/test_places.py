"""Workspaces are found by tenant and conversation, and go when their time is over and nobody uses them."""

import os
import time
from pathlib import Path

import pytest

from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace
from sidecall.features.workspaces.workspaces import Expiry, Workspaces


@pytest.fixture
def places(tmp_path: Path) -> Workspaces:
    """Make a place for them that does not exist yet."""
    return Workspaces(tmp_path / "state/workspaces", expiry=Expiry(idle=60, hard=600))


def grow_older(workspace: Workspace, seconds: float) -> None:
    """Let a workspace have been unused for so long."""
    lease = workspace.directory.parent / "lease"
    os.utime(lease, (time.time() - seconds,) * 2)


def test_each_tenant_and_conversation_has_its_own(places: Workspaces) -> None:
    """Under a name that says neither, no matter what they are called."""
    pairs = [("a", "b"), ("b", "a"), ("a", "../../x"), ("ab", "c"), ("a", "bc"), ("a", "/etc"), ("a:b", "c")]
    for tenant, conversation in pairs:
        with places.open(tenant, conversation) as workspace:
            workspace.write_bytes("name", f"{tenant} {conversation}".encode())

    names = os.listdir(places.root)
    assert len(names) == len(pairs)
    assert {len(name) for name in names} == {64}
    for tenant, conversation in pairs:
        with places.open(tenant, conversation) as workspace:
            assert workspace.read_bytes("name") == f"{tenant} {conversation}".encode()
            assert workspace.directory.parent.parent == places.root
    assert places.find("a", "nobody's") is None


def test_one_that_is_not_used_any_more_is_removed(places: Workspaces) -> None:
    """With all that is in it; one that is used stays."""
    used, left = places.open("a", "used"), places.open("a", "left")
    left.write_bytes("a/b/c", b"1")
    for workspace in (used, left):
        grow_older(workspace, 61)
    del left, workspace

    assert places.sweep() == 1
    assert places.find("a", "left") is None
    assert places.find("a", "used") is not None
    assert used.list_entries() == []


def test_one_that_is_too_old_is_removed_however_much_it_is_used(places: Workspaces) -> None:
    """Also before a sweep: the next call that opens it gets a new one."""
    workspace = places.open("a", "old")
    workspace.write_bytes("a", b"1")
    (workspace.directory.parent / "lease").write_text(f'{{"created": {time.time() - 601}}}')
    del workspace

    assert places.open("a", "old").list_entries() == []


def test_what_an_interrupted_start_or_end_left_is_removed(places: Workspaces) -> None:
    """Neither has a lease that anybody could hold."""
    half, aside = places.root / "half/files", places.root / ".sidecall-0/deep/deeper"
    for folder in (half, aside):
        folder.mkdir(parents=True)
    os.utime(half.parent, (time.time() - 61,) * 2)

    places.sweep()

    assert os.listdir(places.root) == []


def test_one_of_no_conversation_goes_with_its_call(places: Workspaces) -> None:
    """At its end, or when nothing refers to it."""
    ended, dropped = places.open("a", None), places.open("a", None)
    for workspace in (ended, dropped):
        workspace.write_bytes("a", b"1")
    places.end(ended)
    assert len(os.listdir(places.root)) == 1
    del dropped, workspace

    assert os.listdir(places.root) == []


def test_a_link_in_the_place_of_a_workspace_is_not_followed(places: Workspaces, tmp_path: Path) -> None:
    """Nor is one in it, when it is removed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("kept")
    workspace = places.open("a", "one")
    directory = workspace.directory
    (directory / "link").symlink_to(outside)
    del workspace

    assert places.remove("a", "one")
    assert not places.remove("a", "one")
    assert os.listdir(places.root) == []
    directory.parent.mkdir()
    directory.symlink_to(outside)
    with pytest.raises(WorkspaceError, match="cannot write its folder"):
        places.open("a", "one")
    assert os.listdir(outside) == ["secret"]


def test_nothing_is_made_before_there_is_something_to_keep(places: Workspaces) -> None:
    """A server without such tools leaves no folder behind."""
    assert places.sweep() == 0
    assert places.find("a", "b") is None
    assert not places.root.exists()


@pytest.mark.parametrize("mode", [0, 0o500])
def test_a_folder_that_a_program_has_closed_is_opened_again(places: Workspaces, mode: int) -> None:
    """It belongs to the server, and no operator has to see to it."""
    with places.open("a", "b") as workspace:
        directory = workspace.directory
        directory.chmod(mode)
    with places.open("a", "b") as workspace:
        workspace.write_bytes("name", b"1")

    assert directory.stat().st_mode & 0o777 == 0o700

"""Files of a workspace: read, written, moved, listed and counted."""

import os
import pickle
import subprocess
from pathlib import Path

import pytest

from sidecall.features.workspaces.limits import WorkspaceLimits
from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace


def paths(workspace: Workspace, **options: object) -> list[str]:
    """List the paths of what lies in it."""
    return [entry.path for entry in workspace.list_entries(**options)]  # type: ignore[arg-type]


def refuse(workspace: Workspace, method: str, *args: object) -> tuple[str, str]:
    """Return why something is refused, and in which words."""
    with pytest.raises(WorkspaceError) as caught:
        getattr(workspace, method)(*args)
    return caught.value.problem, caught.value.message


@pytest.mark.parametrize("path", ["a/b.txt", "/workspace/a/b.txt", "./a//b.txt", "a/./b.txt"])
def test_a_file_is_written_and_read_by_any_spelling_of_its_path(workspace: Workspace, path: str) -> None:
    """Folders on the way are made."""
    workspace.write_bytes(path, b"text")

    assert workspace.read_bytes("/workspace/a/b.txt") == b"text"
    assert workspace.look_at(path).path == "/workspace/a/b.txt"
    assert (workspace.directory / "a/b.txt").read_bytes() == b"text"


@pytest.mark.parametrize("name", ["a..b.txt", "...", "..a", "é", "日本", "👩‍💻", "with space", "-rf", "a\\b", "~"])
def test_unusual_names_are_names(workspace: Workspace, name: str) -> None:
    """Only what leads out or breaks lines is refused."""
    workspace.write_bytes(name, b"1")

    assert paths(workspace, hidden=True) == [f"/workspace/{name}"]


def test_parts_of_a_file_are_read(workspace: Workspace) -> None:
    """From a byte, and so many."""
    workspace.write_bytes("a", b"0123456789")

    assert workspace.read_bytes("a", 3) == b"3456789"
    assert workspace.read_bytes("a", 3, 4) == b"3456"
    assert workspace.read_bytes("a", 8, 40) == b"89"
    assert workspace.read_bytes("a", 80) == b""


def test_replacing_keeps_permissions_and_leaves_nothing_behind(workspace: Workspace) -> None:
    """A script stays one."""
    workspace.write_bytes("run", b"1")
    (workspace.directory / "run").chmod(0o755)

    workspace.write_bytes("run", b"2")

    assert (workspace.directory / "run").stat().st_mode & 0o777 == 0o755
    assert os.listdir(workspace.directory) == ["run"]


def test_descriptors_are_those_of_the_file(workspace: Workspace) -> None:
    """They read, append and cut as `os.open` does."""
    workspace.write_bytes("a", b"old")
    with os.fdopen(workspace.open("a", os.O_WRONLY | os.O_APPEND), "wb") as file:
        file.write(b"+new")
    with os.fdopen(workspace.open("a", os.O_RDONLY), "rb") as file:
        assert file.read() == b"old+new"
    os.close(workspace.open("a", os.O_WRONLY | os.O_TRUNC))
    os.close(workspace.open("b", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    os.close(workspace.open("", os.O_RDONLY | os.O_DIRECTORY))

    assert workspace.read_bytes("a") == b""
    assert (workspace.directory / "b").stat().st_mode & 0o777 == 0o600
    with pytest.raises(ValueError, match="opens files for reading"):
        workspace.open("a", os.O_RDONLY | os.O_NOFOLLOW)


def test_what_cannot_be_done_is_said_in_words(workspace: Workspace) -> None:
    """Each with the reason in one word, and the path as the model knows it."""
    workspace.write_bytes("a/b", b"text")

    assert refuse(workspace, "read_bytes", "x") == ("missing", "There is nothing at /workspace/x.")
    assert refuse(workspace, "read_bytes", "a") == ("not_a_file", "/workspace/a is a folder, not a file.")
    assert refuse(workspace, "write_bytes", "a", b"") == ("not_a_file", "/workspace/a is a folder, not a file.")
    assert refuse(workspace, "write_bytes", "a/b", b"", True) == (
        "exists",
        "There is already a file at /workspace/a/b.",
    )
    assert refuse(workspace, "write_bytes", "x/y", b"", False, False) == (
        "missing",
        "There is nothing at /workspace/x.",
    )
    assert refuse(workspace, "read_bytes", "a/b/c")[0] == "not_a_file"
    assert refuse(workspace, "write_bytes", "a/b/c", b"")[0] == "not_a_file"
    assert refuse(workspace, "list_entries", "a/b")[0] == "not_a_file"
    assert refuse(workspace, "delete", "x") == ("missing", "There is nothing at /workspace/x.")
    assert refuse(workspace, "delete", "") == ("not_a_file", "/workspace is the workspace itself. Name a file in it.")
    assert refuse(workspace, "rename", "x", "y")[0] == "missing"
    assert refuse(workspace, "rename", "a/b", "a")[0] == "exists"
    assert refuse(workspace, "rename", "a", "a/c/d") == ("refused", "A folder cannot be moved into itself.")
    assert not workspace.is_there("x")
    assert not workspace.is_there("a/b/c")
    assert workspace.is_there("a")


def test_files_and_folders_are_moved_and_deleted(workspace: Workspace) -> None:
    """Folders with all that is in them."""
    workspace.write_bytes("a/b/c", b"1")
    workspace.write_bytes("a/d", b"2")

    workspace.rename("a", "/workspace/x/y")
    assert paths(workspace, depth=9) == [
        "/workspace/x", "/workspace/x/y", "/workspace/x/y/b", "/workspace/x/y/b/c", "/workspace/x/y/d",
    ]  # fmt: skip
    workspace.delete("x/y/b")
    assert paths(workspace, depth=9) == ["/workspace/x", "/workspace/x/y", "/workspace/x/y/d"]
    workspace.delete("x")

    assert os.listdir(workspace.directory) == []


def test_a_listing_is_in_order_and_as_deep_as_asked_for(workspace: Workspace) -> None:
    """Names that begin with a dot are left out unless asked for."""
    for path in ("b/2", "b/1/x", "a", "c", ".git/config"):
        workspace.write_bytes(path, b"12")
    workspace.make_folder("empty")
    workspace.make_folder("empty")

    assert paths(workspace) == ["/workspace/a", "/workspace/b", "/workspace/c", "/workspace/empty"]
    assert paths(workspace, path="b", depth=2) == ["/workspace/b/1", "/workspace/b/1/x", "/workspace/b/2"]
    assert paths(workspace, hidden=True)[0] == "/workspace/.git"
    assert [entry.path for entry in workspace.walk()][:2] == ["/workspace/.git", "/workspace/.git/config"]
    assert [(it.name, it.is_folder, it.size) for it in workspace.list_entries()][:2] == [
        ("a", False, 2),
        ("b", True, 0),
    ]


def test_what_cannot_be_named_is_not_listed(workspace: Workspace, outside: Path) -> None:
    """Links, names that are no text, and files that are being written."""
    workspace.write_bytes("a", b"1")
    os.close(os.open(b"\xff", os.O_CREAT | os.O_WRONLY, dir_fd=workspace.root_fd))
    for name in ("line\nbreak", ".sidecall-1"):
        (workspace.directory / name).write_bytes(b"1")
    (workspace.directory / "link").symlink_to(outside)

    assert paths(workspace, depth=9, hidden=True) == ["/workspace/a"]


def test_a_deep_folder_is_deleted(workspace: Workspace) -> None:
    """Deeper than descriptors, recursion and paths reach, and where permissions were taken away."""
    try:
        _dig(workspace.root_fd, 1200)
        assert refuse(workspace, "write_bytes", "a", b"1")[0] == "quota"
        workspace.delete("deeper")
        assert os.listdir(workspace.directory) == []
    finally:  # What were left, pytest could not remove either.
        subprocess.run(["rm", "-rf", workspace.directory], check=False)


def _dig(top: int, levels: int) -> None:
    place = os.dup(top)
    for _ in range(levels):
        os.mkdir("deeper", dir_fd=place)
        below = os.open("deeper", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.fchmod(place, 0)
    os.close(place)


def test_a_workspace_is_never_fuller_than_it_may_be(workspace: Workspace) -> None:
    """In bytes, in those of a file, and in files and folders; what makes room is always let in."""
    workspace.allowance = WorkspaceLimits(total_bytes=100, file_bytes=60, entries=3)
    workspace.write_bytes("a", b"1" * 60)

    assert refuse(workspace, "write_bytes", "b", b"1" * 61) == ("too_large", "A file may have 60 bytes at most.")
    text = "The workspace may hold 100 bytes, and is full. Delete files first."
    assert refuse(workspace, "write_bytes", "b", b"1" * 41) == ("quota", text)
    workspace.write_bytes("b", b"1" * 40)
    workspace.write_bytes("a", b"1" * 60)
    workspace.write_bytes("a", b"1" * 20)
    workspace.write_bytes("c", b"1" * 40)
    text = "The workspace may hold 3 files and folders, and does. Delete some first."
    assert refuse(workspace, "write_bytes", "d", b"") == ("quota", text)
    assert refuse(workspace, "make_folder", "d")[0] == "quota"
    assert refuse(workspace, "open", "d", os.O_WRONLY | os.O_CREAT)[0] == "quota"
    workspace.delete("b")
    workspace.write_bytes("d/", b"")


def test_what_others_wrote_counts(workspace: Workspace) -> None:
    """A sandbox writes past the tools of files; the next of them finds it."""
    workspace.allowance = WorkspaceLimits(total_bytes=100, file_bytes=60, entries=30)
    (workspace.directory / "big").write_bytes(b"1" * 150)

    assert refuse(workspace, "write_bytes", "a", b"1")[0] == "quota"
    assert refuse(workspace, "require_room")[0] == "quota"
    assert refuse(workspace, "read_bytes", "big") == ("too_large", "A file may have 60 bytes at most.")
    assert workspace.read_bytes("big", 100, 10) == b"1" * 10
    workspace.delete("big")
    workspace.write_bytes("a", b"1")


def test_a_workspace_can_be_sent_to_another_process(workspace: Workspace) -> None:
    """It is opened there."""
    workspace.write_bytes("a", b"text")
    again = pickle.loads(pickle.dumps(workspace))

    assert again.read_bytes("a") == b"text"
    again.close()
    again.close()

    error = pickle.loads(pickle.dumps(WorkspaceError("missing", "There is nothing.")))
    assert (error.problem, error.message) == ("missing", "There is nothing.")

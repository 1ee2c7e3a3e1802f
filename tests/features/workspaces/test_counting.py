"""How much a workspace holds: counted no further than its bounds, and remembered where it is over them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecall.features.workspaces.limits import DiskUsage, WorkspaceLimits
from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace
from sidecall.features.workspaces.workspaces import Workspaces

FEW = WorkspaceLimits(total_bytes=1000, file_bytes=100, entries=10)
MANY = 200


class Looked:
    """Counts the entries of folders that are read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entries = self.folders = 0
        self._scandir = os.scandir
        monkeypatch.setattr(os, "scandir", self._open)

    def _open(self, folder: int) -> "Looked._Found":
        self.folders += 1
        return Looked._Found(self, self._scandir(folder))

    class _Found:
        def __init__(self, looked: "Looked", found: "os._ScandirIterator[str]") -> None:  # type: ignore[name-defined]
            self._looked, self._found = looked, found

        def __enter__(self) -> "Looked._Found":
            return self

        def __exit__(self, *_: object) -> None:
            self._found.close()

        def __iter__(self) -> "Looked._Found":
            return self

        def __next__(self) -> "os.DirEntry[str]":
            entry: os.DirEntry[str] = next(self._found)
            self._looked.entries += 1
            return entry


def make_file(path: Path) -> None:
    """Make an empty file."""
    path.touch()


def make_link(path: Path) -> None:
    """Make a link that leads nowhere."""
    path.symlink_to("nowhere")


def make_fifo(path: Path) -> None:
    """Make a FIFO."""
    os.mkfifo(path)


def make_hard_link(path: Path) -> None:
    """Make another name of one file."""
    one = path.parent.parent / "one"
    one.touch()
    os.link(one, path)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Make a workspace that may hold little."""
    (tmp_path / "inside").mkdir()
    return Workspace(tmp_path / "inside", FEW)


KINDS = [make_file, make_link, make_fifo, make_hard_link, Path.mkdir]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("below", ["", "a/b/c"])
@pytest.mark.parametrize("name", ["f{}", ".f{}", "f\n{}"])
def test_counting_ends_inside_a_folder_that_holds_too_much(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], below: str, name: str
) -> None:
    """Of every kind, hidden or under a name that no path may have."""
    folder = workspace.directory / below
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(MANY):
        make(folder / name.format(number))
    looked = Looked(monkeypatch)

    with pytest.raises(WorkspaceError, match="may hold 10 files and folders, and does"):
        workspace.require_room()
    list(workspace.walk())
    workspace.list_entries(depth=9)

    assert looked.entries <= 3 * (FEW.entries + 1)


def test_names_of_unfinished_files_count_once_they_are_many(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few are files that are being written; a program may make many."""
    for number in range(10):
        make_file(workspace.directory / f".sidecall-{number}")
    workspace.require_room()
    for number in range(10, MANY):
        make_file(workspace.directory / f".sidecall-{number}")
    looked = Looked(monkeypatch)

    with pytest.raises(WorkspaceError, match="may hold 10 files and folders, and does"):
        workspace.require_room()
    assert looked.entries <= 2 * FEW.entries + 1


def test_counting_ends_where_there_are_too_many_bytes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few large files are enough to know."""
    for number in range(8):
        (workspace.directory / f"f{number}").write_bytes(b"1" * 600)
    looked = Looked(monkeypatch)

    with pytest.raises(WorkspaceError, match="may hold 1000 bytes, and is full"):
        workspace.require_room()
    assert looked.entries == 2


def test_a_full_workspace_is_not_counted_again_before_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call opens it anew; a file that goes, no matter how, has it counted again."""
    places = Workspaces(tmp_path / "root", FEW)
    folder = places.open("a", "one").directory / "a"
    folder.mkdir()
    for number in range(10):
        make_file(folder / f"f{number}")
    time.sleep(0.2)  # Until a change shows another time.
    looked = Looked(monkeypatch)
    for _ in range(5):
        with pytest.raises(WorkspaceError):
            places.open("a", "one").require_room()
    assert looked.folders == 2

    (folder / "f1").unlink()
    places.open("a", "one").require_room()

    assert looked.folders == 4


def test_one_that_is_full_by_its_bytes_is_counted_again(tmp_path: Path) -> None:
    """A file that is cut does not change its folder."""
    places = Workspaces(tmp_path / "root", FEW)
    file = places.open("a", "one").directory / "f"
    file.write_bytes(b"1" * 1001)
    time.sleep(0.2)
    with pytest.raises(WorkspaceError):
        places.open("a", "one").require_room()
    os.truncate(file, 0)

    places.open("a", "one").require_room()


def test_what_is_counted_is_whole_or_a_bound_is_passed(workspace: Workspace) -> None:
    """Links and FIFOs count as files do."""
    make_link(workspace.directory / "link")
    make_fifo(workspace.directory / "fifo")
    (workspace.directory / "a").write_bytes(b"12")

    workspace.require_room()

    assert workspace._held == DiskUsage(size=2 + len("nowhere"), entries=3)

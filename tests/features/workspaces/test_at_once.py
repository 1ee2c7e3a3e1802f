"""Several work on one workspace at once, or remove it meanwhile, and none is told of what the others do."""

import errno
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.workspaces import claims
from sidecall.features.workspaces.file_requests import note_sent, read_sent
from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspaces import Workspaces

_TIMES = 40


@pytest.fixture
def places(tmp_path: Path) -> Workspaces:
    """Make a place for them."""
    return Workspaces(tmp_path / "workspaces")


def _work(*steps: Callable[[int], Any]) -> None:
    """Take each step many times, all beside each other; what one raises is raised."""
    with ThreadPoolExecutor(len(steps)) as threads:
        for ended in [threads.submit(lambda step=step: [step(number) for number in range(_TIMES)]) for step in steps]:
            ended.result()


def _send(places: Workspaces, path: str) -> None:
    workspace = places.open("a", "one")
    note_sent(workspace, workspace.write_bytes(path, b"1").path)


def _list(places: Workspaces) -> None:
    workspace = places.find("a", "one")
    if workspace is not None:
        read_sent(workspace)
        list(workspace.walk())


def test_whoever_uses_one_that_is_removed_goes_on(places: Workspaces) -> None:
    """No other call finds it, and its files go with the last one that uses it."""
    first, second = places.open("a", "one"), places.open("a", "one")
    first.write_bytes("a", b"1")

    assert places.remove("a", "one")
    assert places.find("a", "one") is None
    assert not places.remove("a", "one")
    with places.open("a", "one") as fresh:
        assert fresh.list_entries() == []
        fresh.write_bytes("b", b"2")
    places.sweep()
    second.write_bytes("c/d", b"3")
    note_sent(second, "/workspace/c/d")
    assert (first.directory / "c/d").read_bytes() == b"3"
    assert read_sent(first) == {"/workspace/c/d"}
    del first, fresh
    assert len(os.listdir(places.root)) == 2
    del second
    assert len(os.listdir(places.root)) == 1
    assert [it.path for it in places.open("a", "one").list_entries()] == ["/workspace/b"]


def test_one_that_is_removed_all_the_time_takes_files(places: Workspaces) -> None:
    """Each is written into the one before or the one after; nothing is left behind."""
    _work(
        lambda number: _send(places, f"a/{number}"),
        lambda _: _send(places, "b"),
        lambda _: _list(places),
        lambda _: places.remove("a", "one"),
        lambda _: places.remove("a", "one"),
        lambda _: places.sweep(),
    )

    places.remove("a", "one")
    places.sweep()
    assert os.listdir(places.root) == []


def test_all_files_that_are_sent_at_once_are_known_as_sent(places: Workspaces) -> None:
    """None is forgotten for another."""
    _work(*(lambda number, who=who: _send(places, f"{who}/{number}") for who in "abcd"))

    workspace = places.open("a", "one")
    assert read_sent(workspace) == {f"/workspace/{who}/{number}" for who in "abcd" for number in range(_TIMES)}


def _come_between(monkeypatch: pytest.MonkeyPatch, name: str, step: Callable[[], Any]) -> None:
    """Take a step right after the next look at whether there is something of this name."""
    real, left = os.stat, [step]

    def look(path: Any, *args: Any, **options: Any) -> os.stat_result:
        try:
            return real(path, *args, **options)
        finally:
            if path == name and left:
                left.pop()()

    monkeypatch.setattr(os, "stat", look)


def test_of_files_of_one_name_the_last_is_there(places: Workspaces, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in any folder; one who wants to be the only one is told of the other."""
    workspace, other = places.open("a", "one"), places.open("a", "one")

    _come_between(monkeypatch, "a", lambda: other.write_bytes("a", b"first"))
    workspace.write_bytes("a", b"second")
    _come_between(monkeypatch, "b", lambda: other.write_bytes("b", b"first"))
    with pytest.raises(WorkspaceError, match="There is already something at /workspace/b"):
        workspace.write_bytes("b", b"second", create_only=True)

    assert (other.read_bytes("a"), other.read_bytes("b")) == (b"second", b"first")


def test_files_of_one_name_that_come_at_once_are_whole(places: Workspaces) -> None:
    """No matter which is the last."""
    workspace = places.open("a", "one")

    _work(*(lambda number, who=who: workspace.write_bytes(f"a{number}", who * 1000) for who in (b"1", b"2", b"3")))

    assert {workspace.read_bytes(f"a{number}") for number in range(_TIMES)} <= {it * 1000 for it in (b"1", b"2", b"3")}


def test_a_folder_that_is_deleted_meanwhile_is_made_again(places: Workspaces, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that write into it are not told that there is nothing; those that make no folders are."""
    workspace, other = places.open("a", "one"), places.open("a", "one")

    _come_between(monkeypatch, "c", lambda: other.delete("a"))
    workspace.write_bytes("a/b/c", b"1")
    assert other.read_bytes("a/b/c") == b"1"
    _come_between(monkeypatch, "d", lambda: other.delete("a"))
    with pytest.raises(WorkspaceError, match="There is nothing at /workspace/a/b/d"):
        workspace.write_bytes("a/b/d", b"1", parents=False)

    assert [it.path for it in other.walk()] == []


def test_a_full_disk_can_be_cleared(places: Workspaces, monkeypatch: pytest.MonkeyPatch) -> None:
    """Removing needs no room; the disk is played."""
    _send(places, "a")
    (turn,) = places.root.glob("*/turn")
    turn.unlink()
    real = os.open

    def refuse(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, *args, **options)

    monkeypatch.setattr(claims.os, "open", refuse)

    assert places.remove("a", "one")
    assert os.listdir(places.root) == []

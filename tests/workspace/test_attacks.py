"""Paths, links and special files that would lead out of a workspace: all are refused, whatever is tried with them."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecall.workspace.errors import WorkspaceError
from sidecall.workspace.workspace import Workspace
from tests.workspace.conftest import SECRET

# Texts that are no paths into a workspace, whatever lies there.
TEXTS = [
    "..",
    "../outside/secret",
    "../../etc/passwd",
    "a/../../outside/secret",
    "a/b/../../../outside/secret",
    "./../outside/secret",
    "a/..",
    "../inside/a",
    "..//outside/secret",
    "/workspace/..",
    "/workspace/../etc/passwd",
    "/workspace/a/../../etc/passwd",
    "/workspace//../outside/secret",
    "/workspace/./..",
    "/",
    "//",
    "/etc/passwd",
    "//etc/passwd",
    "///workspace/a",
    "/etc/../workspace/a",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/self/fd/0",
    "/dev/zero",
    "/dev/stdin",
    "/workspaces/a",
    "/workspace.txt",
    "/Workspace/a",
    "/tmp/a",
    "a\0b",
    "\0",
    "secret\0.txt",
    "a\nb",
    "a\rb",
    "a\tb",
    "a\x1b[31mb",
    "a\x7fb",
    "a\x85b",
    "a\u2028b",
    "a\u2029b",
    "a\u202etxt.exe",
    "a\u2066b",
    "a\ud800b",
    "a" * 256,
    "a/" + "b" * 256 + "/c",
    "é" * 128,
    "a" * 4097,
    "a/" * 2049,
    "é/" * 1400,
    "a/" * 100_000,
    "a/" * 200 + "b",
    ".sidecall-0",
    "a/.sidecall-0123/b",
]
# What another process may have put there, and the path that leads through it.
PLANTED: dict[str, tuple[str, Callable[[Path, Path], object]]] = {
    "link to a file": ("x", lambda at, out: at.symlink_to(out / "secret")),
    "link to a file inside": ("x", lambda at, _: (at.with_name("y").write_bytes(SECRET), at.symlink_to("y"))),
    "link to a folder": ("x/secret", lambda at, out: at.symlink_to(out)),
    "link upwards": ("x/outside/secret", lambda at, _: at.symlink_to("..")),
    "link to the root": ("x/etc/passwd", lambda at, _: at.symlink_to("/")),
    "link to itself": ("x", lambda at, _: at.symlink_to("x")),
    "link to nothing": ("x", lambda at, out: at.symlink_to(out / "new")),
    "link of links": ("x", lambda at, out: (at.with_name("y").symlink_to(out / "secret"), at.symlink_to("y"))),
    "link in a folder": ("x/y/secret", lambda at, out: (at.mkdir(), (at / "y").symlink_to(out))),
    "magic link to a folder": ("x/secret", lambda at, out: at.symlink_to(f"/proc/self/fd/{os.open(out, os.O_RDONLY)}")),
    "magic link to the root": ("x/etc/passwd", lambda at, _: at.symlink_to("/proc/self/root")),
    "magic link to the program": ("x", lambda at, _: at.symlink_to("/proc/self/exe")),
    "link to a device": ("x", lambda at, _: at.symlink_to("/dev/zero")),
    "hard link": ("x", lambda at, out: os.link(out / "secret", at)),
    "FIFO": ("x", lambda at, _: os.mkfifo(at)),
    "socket": ("x", lambda at, _: _bind(at)),
}
USES: dict[str, Callable[[Workspace, str], object]] = {
    "read": lambda workspace, path: workspace.read_bytes(path),
    "write": lambda workspace, path: workspace.write_bytes(path, b"overwritten"),
    "create": lambda workspace, path: workspace.write_bytes(path, b"overwritten", create_only=True),
    "cut": lambda workspace, path: workspace.open(path, os.O_WRONLY | os.O_TRUNC),
    "append": lambda workspace, path: workspace.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT),
    "look": lambda workspace, path: workspace.look_at(path),
    "ask": lambda workspace, path: workspace.is_there(path),
    "list": lambda workspace, path: workspace.list_entries(path),
    "walk": lambda workspace, path: list(workspace.walk(path)),
    "move": lambda workspace, path: workspace.rename(path, "moved"),
    "make": lambda workspace, path: workspace.make_folder(path),
}


def _bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: ascii(path[:40]))
def test_a_path_that_leads_out_is_refused(workspace: Workspace, path: str) -> None:
    """Whatever it is used for, and before anything is looked at."""
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

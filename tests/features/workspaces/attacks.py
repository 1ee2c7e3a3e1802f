"""Paths, links and special files that would lead out of a workspace, and all that is tried with them."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

from sidecall.features.workspaces.workspace import Workspace
from tests.features.workspaces.conftest import SECRET

# Texts that are no paths into a workspace, no matter what lies there.
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
    "link to a file": ("x", lambda at, out: _link(at, out / "secret")),
    "link to a file inside": ("x", lambda at, _: (at.with_name("y").write_bytes(SECRET), _link(at, "y"))),
    "link to a folder": ("x/secret", lambda at, out: _link(at, out)),
    "link upwards": ("x/outside/secret", lambda at, _: _link(at, "..")),
    "link to the root": ("x/etc/passwd", lambda at, _: _link(at, "/")),
    "link to itself": ("x", lambda at, _: _link(at, "x")),
    "link to nothing": ("x", lambda at, out: _link(at, out / "new")),
    "link of links": ("x", lambda at, out: (_link(at.with_name("y"), out / "secret"), _link(at, "y"))),
    "link in a folder": ("x/y/secret", lambda at, out: (_make_folder(at), _link(at / "y", out))),
    "magic link to a folder": ("x/secret", lambda at, out: _link(at, f"/proc/self/fd/{os.open(out, os.O_RDONLY)}")),
    "magic link to the root": ("x/etc/passwd", lambda at, _: _link(at, "/proc/self/root")),
    "magic link to the program": ("x", lambda at, _: _link(at, "/proc/self/exe")),
    "link to a device": ("x", lambda at, _: _link(at, "/dev/zero")),
    "hard link": ("x", lambda at, out: _link_hard(at, out / "secret")),
    "FIFO": ("x", lambda at, _: _make_pipe(at)),
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


def _link(path: Path, target: object) -> bool:
    path.symlink_to(str(target))
    return True


def _link_hard(path: Path, target: Path) -> bool:
    os.link(target, path)
    return True


def _make_pipe(path: Path) -> bool:
    os.mkfifo(path)
    return True


def _make_folder(path: Path) -> bool:
    path.mkdir()
    return True


def _bind(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    return True

"""Files are found by their names and by what they say, within bounds."""

import os

import pytest

from sidecall.features.file_tools.editing import searching
from sidecall.features.file_tools.editing.searching import find_by_name, find_by_text
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.py", "", ["a.py"]),
        ("**/*.py", "", [".hidden/x.py", "a.py", "src/app.py", "src/deep/inner.py"]),
        ("*.py", "src", ["src/app.py"]),
        ("src/*", "", ["src/app.py", "src/deep/"]),
        ("**/*.js", "", []),
        ("*.js", "node_modules", ["node_modules/m.js"]),
    ],
)
def test_names(workspace: Workspace, pattern: str, path: str, found: list[str]) -> None:
    """Those of other programs' folders are found where their folder is named."""
    lines = find_by_name(workspace, pattern, path).split("\n")

    assert sorted(lines) == ([f"/workspace/{name}" for name in found] or ["no matches"])


def test_names_changed_last_come_first(workspace: Workspace) -> None:
    """And of too many only the first ones."""
    for number in range(203):
        workspace.write_bytes(f"many/{number}", b"")
        os.utime(workspace.directory / "many" / str(number), (number, number))

    lines = find_by_name(workspace, "*", "many").split("\n")

    assert lines[:2] == ["/workspace/many/202", "/workspace/many/201"]
    assert lines[199:] == ["/workspace/many/3", "[3 more files match; use a narrower pattern]"]


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("error", "", [".hidden/x.py:1:error", "src/app.py:1:print('error')", "src/deep/inner.py:1:error = 2"]),
        ("^error", "src", ["src/deep/inner.py:1:error = 2"]),
        ("(?i)ERROR$", "", [".hidden/x.py:1:error"]),
        ("e$", "crlf.txt", ["crlf.txt:1:one", "crlf.txt:3:three"]),
        ("two", "bare.txt", ["bare.txt:2:two"]),
        ("nothing", "", []),
    ],
)
def test_lines(workspace: Workspace, pattern: str, path: str, found: list[str]) -> None:
    """With the file and the number of each."""
    lines = find_by_text(workspace, pattern, path).split("\n")

    assert sorted(lines) == ([f"/workspace/{line}" for line in found] or ["no matches"])


def test_what_is_no_text_or_very_long_is_passed_by(workspace: Workspace) -> None:
    """Lines are counted all the same."""
    workspace.write_bytes("f/binary", b"a\0b\nerror\n")
    workspace.write_bytes(
        "f/long", b"error" * 400 + b"\n" + b"error" * 401 + b"\nerror\n" + b"error" * 99_999 + b"\nerror"
    )
    workspace.write_bytes("f/latin", b"error h\xe9\n")

    lines = find_by_text(workspace, "error", "f").split("\n")

    assert lines == [
        "/workspace/f/latin:1:error h\ufffd",
        "/workspace/f/long:1:" + "error" * 400,
        "/workspace/f/long:3:error",
        "/workspace/f/long:5:error",
    ]


def test_links_and_pipes_are_passed_by(workspace: Workspace) -> None:
    """Neither followed nor waited for."""
    folder = workspace.directory
    (folder / "src" / "up").symlink_to(folder)
    (folder / "src" / "passwd").symlink_to("/etc/passwd")
    os.mkfifo(folder / "src" / "pipe")

    assert find_by_text(workspace, "root|print", "src") == "/workspace/src/app.py:1:print('error')"
    assert "up" not in find_by_name(workspace, "**", "src")


def test_an_answer_has_an_end(workspace: Workspace) -> None:
    """Which says that there was more."""
    workspace.write_bytes("many", b"error and more of it\n" * 10_000)

    answer = find_by_text(workspace, "error", "many")

    assert len(answer) < 103_000
    assert answer.endswith("\n[output truncated at 102400 bytes]")


def test_a_search_has_an_end(workspace: Workspace) -> None:
    """In time, and in files."""
    moments = iter(range(0, 1000, 31))
    with pytest.raises(ToolException, match=r"The search took longer than 30 seconds. Name a smaller folder."):
        find_by_text(workspace, "nothing", "", lambda: next(moments))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "MOST_SEEN", 3)
        assert "inner.py" not in find_by_name(workspace, "**/*.py", "")


def test_a_file_has_no_names_in_it(workspace: Workspace) -> None:
    """A folder has."""
    with pytest.raises(ToolException, match=r"/workspace/a.py is a file. Name a folder in `path`."):
        find_by_name(workspace, "*", "a.py")

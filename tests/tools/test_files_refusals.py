"""What a folder of files refuses, in words that a model can act on: nothing waits, and no path leads out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecall import Workspace
from tests.tools.unpleasant import Step, answer, unpleasant_workspace

LINKS = "Links are not followed: use the path of the file itself."
OUTSIDE = "refused: Only files in /workspace can be reached. Use a path such as /workspace/notes.txt."
UP = "refused: The path must not contain `..`. Write the whole path, such as /workspace/notes.txt."
FULL = "refused: The workspace may hold 3.815 MB, and is full. Delete files first."


@pytest.fixture(name="workspace")
def make_workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Make one."""
    with unpleasant_workspace(tmp_path) as made:
        yield made


REFUSALS: dict[str, list[Step]] = {
    "what is missing is said": [("read", {"file_path": "no"}, "refused: There is nothing at /workspace/no.")],
    "a folder is not read": [("read", {"file_path": "dir"}, "refused: /workspace/dir is a folder, not a file.")],
    "a folder is not written": [
        ("write", {"file_path": "dir", "content": ""}, "refused: /workspace/dir is a folder, not a file.")
    ],
    "the workspace is not written": [
        (
            "write",
            {"file_path": "/workspace", "content": ""},
            "refused: /workspace is the workspace itself. Name a file in it.",
        )
    ],
    "a file is no folder": [("ls", {"path": "a.txt"}, "refused: a.txt is a file, not a folder.")],
    "a file has nothing below it": [
        (
            "write",
            {"file_path": "a.txt/b", "content": ""},
            "refused: /workspace/a.txt is not a folder, or leads through a file.",
        ),
        ("read", {"file_path": "a.txt/b"}, "refused: /workspace/a.txt/b is not a folder, or leads through a file."),
    ],
    "a pipe is not waited for": [
        ("read", {"file_path": "pipe"}, "refused: /workspace/pipe is not an ordinary file."),
        ("write", {"file_path": "pipe", "content": ""}, "refused: /workspace/pipe is not an ordinary file."),
    ],
    "loops of links do not break lists": [
        ("ls", {}, "a.txt\t8B\nbinary\t3B\ndir/\nlatin\t2B\nscript.sh\t7B"),
        ("glob", {"pattern": "**/*.txt"}, "/workspace/a.txt"),
        ("grep", {"pattern": "two|canary"}, "/workspace/a.txt:2:two"),
    ],
    "a link leads nowhere": [
        (
            "read",
            {"file_path": "link"},
            f"refused: /workspace/link is a link or leads through one. {LINKS}",
        ),
        (
            "write",
            {"file_path": "link", "content": ""},
            f"refused: /workspace/link is a link. {LINKS}",
        ),
        (
            "write",
            {"file_path": "nowhere", "content": ""},
            f"refused: /workspace/nowhere is a link. {LINKS}",
        ),
        (
            "read",
            {"file_path": "dir/up/a.txt"},
            f"refused: /workspace/dir/up/a.txt is a link or leads through one. {LINKS}",
        ),
    ],
    "a file with a second name is not opened": [
        (
            "read",
            {"file_path": "second-name"},
            "refused: /workspace/second-name has a second name (a hard link), and is not opened.",
        ),
    ],
    "no path leads out": [
        (
            "read",
            {"file_path": "../outside/secret"},
            UP,
        ),
        (
            "read",
            {"file_path": "/etc/passwd"},
            OUTSIDE,
        ),
        (
            "glob",
            {"pattern": "../*"},
            "refused: The pattern must name files below the folder, such as **/*.py, and have no `..`.",
        ),
        (
            "grep",
            {"pattern": "x", "path": "/"},
            OUTSIDE,
        ),
        (
            "apply_patch",
            {"type": "delete_file", "path": "../outside/secret"},
            UP,
        ),
        (
            "memory",
            {"command": "view", "path": "/memories/../a.txt"},
            UP.replace("/workspace/", "/memories/"),
        ),
    ],
    "a name has no control characters": [
        ("read", {"file_path": "a\0b"}, "refused: The path must not contain control characters.")
    ],
    "a name is not too long": [
        (
            "write",
            {"file_path": "n" * 256, "content": ""},
            "refused: A name in the path is too long: it may have 255 bytes.",
        )
    ],
    "a path is not too long": [
        ("read", {"file_path": "n/" * 2100}, "refused: The path is too long: it may have 4096 bytes.")
    ],
    "what is no text is not read as one": [
        ("read", {"file_path": "binary"}, "refused: binary is a binary file."),
        ("read", {"file_path": "latin"}, "refused: latin is not a text in UTF-8."),
        ("edit", {"file_path": "binary", "old_string": "a", "new_string": "b"}, "refused: binary is a binary file."),
    ],
    "a patch does not delete folders": [
        ("apply_patch", {"type": "delete_file", "path": "dir"}, "refused: /workspace/dir is a folder, not a file."),
    ],
    "a file is not too large": [
        ("write", {"file_path": "large", "content": "x" * 2_000_001}, "refused: A file may have 1.907 MB at most."),
        ("read", {"file_path": "large"}, "refused: There is nothing at /workspace/large."),
    ],
    "a full workspace takes no more, and loses nothing": [
        ("write", {"file_path": "1", "content": "x" * 1_999_000}, "wrote 1999000 bytes to 1"),
        ("write", {"file_path": "2", "content": "x" * 1_999_000}, "wrote 1999000 bytes to 2"),
        (
            "write",
            {"file_path": "a.txt", "content": "y" * 9_000},
            FULL,
        ),
        (
            "edit",
            {"file_path": "a.txt", "old_string": "one", "new_string": "1" * 9_000},
            FULL,
        ),
        ("read", {"file_path": "a.txt"}, "one\ntwo\n"),
    ],
    "a command says what it lacks": [
        (
            "memory",
            {"command": "create", "path": "/memories/a"},
            "refused: Parameter `file_text` is required for command: create",
        ),
        (
            "memory",
            {"command": "rename", "old_path": "/memories/a"},
            "refused: Parameter `new_path` is required for command: rename",
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "insert", "path": "a.txt", "insert_line": 1},
            "refused: Parameter `insert_text` is required for command: insert",
        ),
        (
            "apply_patch",
            {"path": "a.txt"},
            "refused: Send `type` and `path`, with `diff`, for one file, or `input` with a whole patch.",
        ),
    ],
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_workspace_refuses(workspace: Workspace, name: str) -> None:
    """With what to do instead."""
    for tool, args, expected in REFUSALS[name]:
        assert answer(workspace, tool, **args) == expected

"""What a folder of files owes to those who work in it: bytes come back, and an answer is whole or an error.

Restated from the conformance suites of other workspaces, as far as it is about files.
"""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecall import Workspace
from tests.tools.unpleasant import Step, answer, unpleasant_workspace

LARGE = "".join(f"line {number}\n" for number in range(1, 100_001))


@pytest.fixture(name="workspace")
def make_workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Make one."""
    with unpleasant_workspace(tmp_path) as made:
        yield made


def text(path: str, content: str) -> list[Step]:
    """Write a file, and read it again."""
    wrote = f"wrote {len(content.encode())} bytes to {path}"
    return [("write", {"file_path": path, "content": content}, wrote), ("read", {"file_path": path}, content)]


BEHAVIOURS: dict[str, list[Step]] = {
    "a text comes back as it was written": text("b.txt", "one\n\ttwo  \n\n"),
    "so does what is not ASCII": text("\u00fcber/\u65e5\u672c.txt", "h\u00e9ron \U0001f426\n"),
    "so does an empty file": text("empty", ""),
    "so does one without a final newline": text("bare", "a"),
    "carriage returns stay": text("crlf", "a\r\nb\r\n"),
    "a file that is there is replaced": text("a.txt", "new"),
    "folders on the way are made": text("x/y/z.txt", "deep"),
    "a name may begin with a dash": text("-rf", "x"),
    "a name may have spaces": text("a b.txt", "x"),
    "a name may have two dots in it": text("a..b.txt", "x"),
    "hidden files are files": text(".env", "x"),
    "the workspace may be named": [("read", {"file_path": "/workspace/a.txt"}, "one\ntwo\n")],
    "slashes and dots say nothing": [("read", {"file_path": ".//./a.txt/"}, "one\ntwo\n")],
    "an answer is whole, or an error": [
        ("write", {"file_path": "large", "content": LARGE}, f"wrote {len(LARGE)} bytes to large"),
        (
            "read",
            {"file_path": "large"},
            f"refused: large has {len(LARGE)} bytes, which exceeds the limit of 262144 bytes. Use `view_range` to "
            "read some of its lines, such as [1, 500].",
        ),
        (
            "read",
            {"file_path": "large", "view_range": [1, 60_000]},
            "refused: Lines 1 to 60000 of large take more than 262144 bytes. Use a smaller `view_range`.",
        ),
        ("read", {"file_path": "large", "view_range": [99_999, -1]}, "line 99999\nline 100000\n"),
        (
            "edit",
            {"file_path": "large", "old_string": "line 50000\n", "new_string": ""},
            "edited large (1 replacement(s))",
        ),
        ("read", {"file_path": "large", "view_range": [49_999, 50_000]}, "line 49999\nline 50001\n"),
    ],
    "a list says where it ends": [
        ("grep", {"pattern": "nothing"}, "no matches"),
        ("glob", {"pattern": "*.rs"}, "no matches"),
    ],
    "an edit needs one place": [
        (
            "edit",
            {"file_path": "a.txt", "old_string": "o", "new_string": "0"},
            "refused: edit: old_string appears at lines 1, 2 in a.txt (must be unique)",
        ),
        (
            "edit",
            {"file_path": "a.txt", "old_string": "o", "new_string": "0", "replace_all": True},
            "edited a.txt (2 replacement(s))",
        ),
        ("read", {"file_path": "a.txt"}, "0ne\ntw0\n"),
    ],
    "a new file is not written over another": [
        (
            "str_replace_based_edit_tool",
            {"command": "create", "path": "a.txt", "file_text": ""},
            "refused: File already exists at: a.txt. Cannot overwrite files using command `create`.",
        ),
        (
            "apply_patch",
            {"type": "create_file", "path": "a.txt", "diff": "+x"},
            "refused: /workspace/a.txt: The file exists already and is not empty. Update it, or delete it first. "
            "Nothing was changed.",
        ),
        ("read", {"file_path": "a.txt"}, "one\ntwo\n"),
    ],
    "a patch does all or nothing": [
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: b.txt\n+b\n*** Update File: a.txt\n@@\n-none\n*** End Patch"},
            "refused: /workspace/a.txt: Hunk 1 (line 5 of the patch) does not fit. Line 6 of the patch, `none`, "
            "is nowhere in the file; the nearest is line 1, `one`. No file was changed.",
        ),
        ("read", {"file_path": "b.txt"}, "refused: There is nothing at /workspace/b.txt."),
    ],
    "one file has one name": [
        (
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: "
                "/workspace/a.txt\n@@\n-two\n+2\n*** End Patch"
            },
            "PatchResult(completed=True, output='Success. Updated the following files:\\nM /workspace/a.txt\\n  "
            "hunk 1: line 1, exact\\nM /workspace/a.txt\\n  hunk 1: line 2, exact')",
        ),
        ("read", {"file_path": "a.txt"}, "1\n2\n"),
    ],
    "a folder is deleted with what is in it": [
        *text("memories/a/b/c.md", "x"),
        ("memory", {"command": "delete", "path": "/memories/a"}, "Successfully deleted /memories/a"),
        ("ls", {"path": "memories"}, "(empty)"),
    ],
    "nothing is moved over another": [
        *text("memories/a.md", "a"),
        *text("memories/b.md", "b"),
        (
            "memory",
            {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
            "refused: The destination /memories/b.md already exists",
        ),
        (
            "memory",
            {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/x/c.md"},
            "Successfully renamed /memories/a.md to /memories/x/c.md",
        ),
        ("read", {"file_path": "memories/x/c.md"}, "a"),
    ],
    "both names of what is inserted are known": [
        *text("b.txt", "a\n"),
        (
            "str_replace_based_edit_tool",
            {"command": "insert", "path": "b.txt", "insert_line": 1, "new_str": "b\n"},
            "The file b.txt has been edited. Here's the result of running `cat -n` on a snippet of b.txt:\n     "
            "1\ta\n     2\tb\nReview the changes and make sure they are as expected (correct indentation, no "
            "duplicate lines, etc). Edit the file again if necessary.",
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "b.txt", "old_str": "a\n"},
            "The file b.txt has been edited. Here's the result of running `cat -n` on a snippet of b.txt:\n     "
            "1\tb\nReview the changes and make sure they are as expected. Edit the file again if necessary.",
        ),
    ],
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_workspace_behaves(workspace: Workspace, name: str) -> None:
    """No matter what is asked of it."""
    for tool, args, expected in BEHAVIOURS[name]:
        assert answer(workspace, tool, **args) == expected


def test_permissions_stay(workspace: Workspace) -> None:
    """A script that could be run can be run after it was edited."""
    answer(workspace, "edit", file_path="script.sh", old_string="1", new_string="2")
    answer(workspace, "apply_patch", type="update_file", path="script.sh", diff="@@\n-echo 2\n+echo 3\n")

    assert stat.S_IMODE((workspace.directory / "script.sh").stat().st_mode) == 0o755
    assert (workspace.directory / "script.sh").read_text() == "echo 3\n"

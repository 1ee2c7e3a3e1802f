"""The editor's commands, in the words that Anthropic's models are used to."""

import pytest

from sidecall.features.file_tools.editing.editor import create_file, put_lines, replace_passage, view_path, write_short
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException

NUMBERED = "     1\timport os\n     2\t\n     3\t\n     4\tdef f():\n     5\t    return 1\n"


def test_a_file_is_shown_with_its_numbers(workspace: Workspace) -> None:
    """Without the carriage returns, which models write back."""
    assert view_path(workspace, "a.py", None) == f"Here's the result of running `cat -n` on a.py:\n{NUMBERED}"
    assert view_path(workspace, "a.py", [4, -1]).endswith("a.py:\n     4\tdef f():\n     5\t    return 1\n")
    assert view_path(workspace, "crlf.txt", [1, 2]).endswith(":\n     1\tone\n     2\ttwo\n")


def test_a_folder_is_listed(workspace: Workspace) -> None:
    """Two levels of it, without what is hidden; sizes are of all that is in a folder."""
    workspace.write_bytes("src/deep/er/still.py", b"x" * 2000)
    workspace.write_bytes("src/.secret", b"")

    assert view_path(workspace, "/workspace/src", None) == (
        "Here're the files and directories up to 2 levels deep in /workspace/src, excluding hidden items:\n"
        "2.0K\t/workspace/src\n"
        "15B\t/workspace/src/app.py\n"
        "2.0K\t/workspace/src/deep/\n"
        "2.0K\t/workspace/src/deep/er/\n"
        "10B\t/workspace/src/deep/inner.py"
    )


@pytest.mark.parametrize(
    ("size", "short"),
    [(0, "0B"), (1023, "1023B"), (1024, "1K"), (1536, "1.5K"), (3 * 1024**2, "3M"), (1024**4, "1024G")],
)
def test_sizes_are_short(size: int, short: str) -> None:
    """As `du -h` writes them."""
    assert write_short(size) == short


def test_a_file_is_created_once(workspace: Workspace) -> None:
    """With the folders on its way."""
    assert create_file(workspace, "new/x.py", "x\n") == "File created successfully at: new/x.py"
    assert workspace.read_bytes("new/x.py") == b"x\n"
    with pytest.raises(ToolException, match=r"^File already exists at: new/x.py. Cannot overwrite files using command"):
        create_file(workspace, "new/x.py", "y\n")


def test_a_text_is_replaced(workspace: Workspace) -> None:
    """And what is around it is shown."""
    assert replace_passage(workspace, "a.py", "return 1", "return 2") == (
        "The file a.py has been edited. Here's the result of running `cat -n` on a snippet of a.py:\n"
        "     1\timport os\n     2\t\n     3\t\n     4\tdef f():\n     5\t    return 2\n"
        "Review the changes and make sure they are as expected. Edit the file again if necessary."
    )
    assert workspace.read_bytes("a.py") == b"import os\n\n\ndef f():\n    return 2\n"


def test_lines_are_inserted(workspace: Workspace) -> None:
    """Below a line, and at the top."""
    assert put_lines(workspace, "bare.txt", 1, "new\n") == (
        "The file bare.txt has been edited. Here's the result of running `cat -n` on a snippet of bare.txt:\n"
        "     1\tone\n     2\tnew\n     3\ttwo\n"
        "Review the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). "
        "Edit the file again if necessary."
    )
    put_lines(workspace, "crlf.txt", 0, "zero")
    assert workspace.read_bytes("crlf.txt") == b"zero\r\none\r\ntwo\r\nthree\r\n"


@pytest.mark.parametrize(
    ("path", "old", "reason"),
    [
        ("a.py", "nothing", "No replacement was performed, old_str `nothing` did not appear verbatim in a.py."),
        ("a.py", "o",
         "No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 1. Please ensure it"
         " is unique"),
        ("a.py", "", "No replacement was performed: `old_str` is empty."),
        ("no.py", "a", "The path no.py does not exist. Please provide a valid path."),
        ("src", "a", "The path src is a directory and only the `view` command can be used on directories."),
        ("/etc/passwd", "a", "Only files in /workspace can be reached. Use a path such as /workspace/notes.txt."),
        ("../x", "a", "The path must not contain `..`. Write the whole path, such as /workspace/notes.txt."),
    ],
)  # fmt: skip
def test_what_cannot_be_replaced_is_said(workspace: Workspace, path: str, old: str, reason: str) -> None:
    """So that the model can do better."""
    with pytest.raises(ToolException) as refused:
        replace_passage(workspace, path, old, "x")

    assert refused.value.message == reason


def test_what_cannot_be_shown_is_said(workspace: Workspace) -> None:
    """A folder has no lines."""
    with pytest.raises(ToolException, match="`view_range` parameter is not allowed when `path` points to a directory"):
        view_path(workspace, "src", [1, 2])
    with pytest.raises(ToolException, match=r"^The path no.py does not exist. Please provide a valid path."):
        view_path(workspace, "no.py", None)
    with pytest.raises(ToolException, match=r"Invalid `insert_line` parameter: 9. It should be within the range"):
        put_lines(workspace, "a.py", 9, "x")

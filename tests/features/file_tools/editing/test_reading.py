"""Texts are read whole, or the lines of them that are wanted."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecall.features.file_tools.editing import reading
from sidecall.features.file_tools.editing.reading import read_passage, read_whole
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException


@pytest.mark.parametrize(
    ("path", "view_range", "text"),
    [
        ("a.py", None, "import os\n\n\ndef f():\n    return 1\n"),
        ("a.py", [1, 1], "import os\n"),
        ("a.py", [4, 5], "def f():\n    return 1\n"),
        ("a.py", [4, 99], "def f():\n    return 1\n"),
        ("a.py", [5, -1], "    return 1\n"),
        ("crlf.txt", [2, 2], "two\r\n"),
        ("bare.txt", [2, 2], "two"),
        ("bare.txt", [2, -1], "two"),
        ("empty.txt", None, ""),
        ("empty.txt", [1, -1], ""),
        ("/workspace/bare.txt", [1, 1], "one\n"),
    ],
)
def test_lines_are_cut_out(workspace: Workspace, path: str, view_range: list[int] | None, text: str) -> None:
    """As they stand there, with their endings."""
    assert read_passage(workspace, path, view_range).text == text


@pytest.mark.parametrize(
    ("path", "view_range", "reason"),
    [
        ("a.py", [6, 7], "a.py has 5 lines only. Use a smaller `view_range`."),
        ("bare.txt", [3, -1], "bare.txt has 2 lines only. Use a smaller `view_range`."),
        ("a.py", [0, 1], "`view_range` begins with 1 or more, and its end is not smaller; -1 means the last line."),
        ("a.py", [3, 2], "`view_range` begins with 1 or more, and its end is not smaller; -1 means the last line."),
        ("a.py", [3], "`view_range` is a list of two numbers: the first and the last line, such as [1, 50]."),
        ("no.py", None, "There is nothing at /workspace/no.py."),
        ("src", None, "/workspace/src is a folder, not a file."),
        ("binary", None, "binary is a binary file."),
        ("latin", [1, 2], "latin is not a text in UTF-8."),
        ("large", None,
         "large has 300000 bytes, which exceeds the limit of 262144 bytes. Use `view_range` to read some of its lines,"
         " such as [1, 500]."),
        ("large", [1, -1], "Lines 1 to the last of large take more than 262144 bytes. Use a smaller `view_range`."),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(
    workspace: Workspace, path: str, view_range: list[int] | None, reason: str
) -> None:  # fmt: skip
    """With what to do instead."""
    for name, content in {"binary": b"a\0b", "latin": b"h\xe9", "large": b"a line\n\n\n\n" * 30_000}.items():
        workspace.write_bytes(name, content)

    with pytest.raises(ToolException) as refused:
        read_passage(workspace, path, view_range)

    assert refused.value.message == reason


def test_a_large_file_is_not_changed(workspace: Workspace) -> None:
    """It would have to be held in memory."""
    workspace.write_bytes("large", b"x" * (reading.MOST_EDITED + 1))

    with pytest.raises(
        ToolException, match="large has 4194305 bytes, and at most 4194304 bytes of a file can be changed"
    ):
        read_whole(workspace, "large", reading.MOST_EDITED)


@pytest.fixture(scope="module", name="scratch")
def make_scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Make a workspace for all examples."""
    with Workspace(tmp_path_factory.mktemp("scratch")) as made:
        yield made


@settings(max_examples=60, deadline=None)
@given(st.text("ab\r\n", max_size=24), st.integers(1, 9), st.integers(0, 5), st.integers(1, 7))
def test_lines_are_found_across_pieces(scratch: Workspace, text: str, first: int, more: int, piece: int) -> None:
    """However the file is cut into pieces."""
    lines = re.findall(r"[^\n]*\n|[^\n]+\Z", text)
    first = min(first, max(1, len(lines)))
    last = -1 if more == 5 else first + more
    scratch.write_bytes("f", text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_PIECE", piece)

        assert read_passage(scratch, "f", [first, last]).text == "".join(
            lines[first - 1 : None if last == -1 else last]
        )

"""Read and search files of the conversation's workspace, and change none."""

from typing import Annotated, Any

from pydantic import Field

from sidecall import ToolAnnotations, ToolException, Workspace, tool
from sidecall.features.file_tools.editing.editor import list_names
from sidecall.features.file_tools.editing.media import is_medium, read_medium
from sidecall.features.file_tools.editing.reading import read_passage
from sidecall.features.file_tools.editing.searching import find_by_name, find_by_text

READING = ToolAnnotations(read_only=True, destructive=False, idempotent=True)
# An answer may hold an image or a document in base64.
MOST_SHOWN = 30_000_000

Pattern = Annotated[str, Field(max_length=1000)]
Range = Annotated[list[int] | None, Field(min_length=2, max_length=2)]


@tool(tags=["files"], annotations=READING, max_content_bytes=MOST_SHOWN)
def read(file_path: str, view_range: Range = None, *, workspace: Workspace) -> Any:
    """Read a file; of an image or a PDF you see what it shows.

    Args:
        file_path: The file, such as src/app.py.
        view_range: The first and the last line to read of a text, such as [1, 50]; -1 as the last one means to the end.
    """
    if not is_medium(file_path):
        return read_passage(workspace, file_path, view_range).text
    if view_range is not None:
        raise ToolException("`view_range` is not for images and PDFs.")
    return [read_medium(workspace, file_path)]


@tool(tags=["files"], annotations=READING, timeout=40)
def glob(pattern: Pattern, path: str = "", *, workspace: Workspace) -> str:
    """Find files by their names; those changed last come first.

    Args:
        pattern: Such as *.md, src/**/*.py or docs/{a,b}?.txt; ** stands for any number of folders.
        path: The folder to search; without it all of them.
    """
    return find_by_name(workspace, pattern, path)


@tool(tags=["files"], annotations=READING, timeout=40)
def grep(pattern: Pattern, path: str = "", *, workspace: Workspace) -> str:
    """Find lines of files by a regular expression; the answer has path:line:text for each.

    Args:
        pattern: In the syntax of ripgrep, such as (?i)error|failed; without lookarounds and backreferences.
        path: The file or folder to search; without it all of them.
    """
    return find_by_text(workspace, pattern, path)


@tool(tags=["files"], annotations=READING)
def ls(path: str = "", *, workspace: Workspace) -> str:
    """List a folder, each name with its size; those of folders end with a slash.

    Args:
        path: The folder; without it the topmost one.
    """
    return list_names(workspace, path)

"""The commands of Anthropic's text editor, with the messages that its models know."""

from collections.abc import Sequence

from sidecall.features.file_tools.editing.committing import hold_workspace
from sidecall.features.file_tools.editing.reading import MOST_EDITED, read_passage, read_whole
from sidecall.features.file_tools.editing.replacing import Edited, fit_endings, insert_lines, locate_lines, replace_once
from sidecall.features.file_tools.editing.viewing import cut_snippet, list_folder, number_passage
from sidecall.features.workspaces.errors import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException

_AROUND = 4
_REVIEW = "Review the changes and make sure they are as expected"
_AGAIN = "Edit the file again if necessary."


def view_path(workspace: Workspace, path: str, view_range: Sequence[int] | None) -> str:
    """Show a file with the numbers of its lines, or list a folder.

    Raises:
        ToolException: It cannot be shown.
    """
    if _require_there(workspace, path):
        if view_range is not None:
            raise ToolException("The `view_range` parameter is not allowed when `path` points to a directory.")
        return list_folder(workspace, path)
    shown = number_passage(read_passage(workspace, path, view_range))
    return f"Here's the result of running `cat -n` on {path}:\n{shown}\n"


def create_file(workspace: Workspace, path: str, text: str) -> str:
    """Write a new file.

    Raises:
        ToolException: There is one already, or it cannot be written.
    """
    try:
        workspace.write_bytes(path, text.encode(), create_only=True)
    except WorkspaceError as error:
        if error.problem == "exists":
            refused = f"File already exists at: {path}. Cannot overwrite files using command `create`."
            raise ToolException(refused) from None
        raise
    return f"File created successfully at: {path}"


def replace_passage(workspace: Workspace, path: str, old: str, new: str) -> str:
    """Replace the only occurrence of a text in a file.

    Raises:
        ToolException: There is none, or there are several.
    """
    _require_file(workspace, path)
    with hold_workspace(workspace):
        edited = edit_text(read_whole(workspace, path, MOST_EDITED), path, old, new)
        workspace.write_bytes(path, edited.text.encode())
    snippet = cut_snippet(edited.text, edited.first, edited.last, _AROUND)
    return f"{_describe(path, snippet)}{_REVIEW}. {_AGAIN}"


def edit_text(text: str, path: str, old: str, new: str) -> Edited:
    """Replace the only occurrence in a text.

    Raises:
        ToolException: There is none, or there are several.
    """
    if not old:
        raise ToolException("No replacement was performed: `old_str` is empty.")
    try:
        return replace_once(text, old, new)
    except ValueError:
        lines = locate_lines(text, fit_endings(text, old, new)[0])
    if not lines:
        missing = f"old_str `{old}` did not appear verbatim in {path}."
        raise ToolException(f"No replacement was performed, {missing}")
    several = f"Multiple occurrences of old_str `{old}` in lines: {', '.join(map(str, lines))}"
    raise ToolException(f"No replacement was performed. {several}. Please ensure it is unique")


def put_lines(workspace: Workspace, path: str, line: int, text: str) -> str:
    """Insert lines below the line of this number, 0 for the top.

    Raises:
        ToolException: There is no such line, or no such file.
    """
    _require_file(workspace, path)
    with hold_workspace(workspace):
        edited = insert_lines(read_whole(workspace, path, MOST_EDITED), line, text)
        workspace.write_bytes(path, edited.text.encode())
    snippet = cut_snippet(edited.text, edited.first, edited.last, _AROUND)
    return f"{_describe(path, snippet)}{_REVIEW} (correct indentation, no duplicate lines, etc). {_AGAIN}"


def _describe(path: str, snippet: str) -> str:
    return (
        f"The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:\n{snippet}\n"
    )


def _require_there(workspace: Workspace, path: str) -> bool:
    """Return whether it is a folder."""
    try:
        return workspace.look_at(path).is_folder
    except WorkspaceError as error:
        if error.problem == "missing":
            raise ToolException(f"The path {path} does not exist. Please provide a valid path.") from None
        raise


def _require_file(workspace: Workspace, path: str) -> None:
    if _require_there(workspace, path):
        only = "is a directory and only the `view` command can be used on directories"
        raise ToolException(f"The path {path} {only}.")

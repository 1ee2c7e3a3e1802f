"""The commands of Anthropic's text editor, with the messages that its models know."""

import fcntl
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from sidecall.features.file_tools.editing.reading import (
    MOST_EDITED,
    Edited,
    Passage,
    fit_endings,
    insert_lines,
    locate_lines,
    read_passage,
    read_whole,
    replace_once,
)
from sidecall.features.file_tools.patching.applying import PlannedFile
from sidecall.features.workspaces.paths import WorkspaceError
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


_MOST_WAIT = 10.0

_PAUSE = 0.005


@contextmanager
def hold_workspace(workspace: Workspace) -> Iterator[None]:
    """Lock a workspace for edits, across processes.

    Models send several edits of one file at once, and each must see the result of the one before.
    """
    folder = workspace.open("", os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(folder)
        yield
    finally:
        os.close(folder)


def _lock(folder: int) -> None:
    # A sandboxed program may hold the lock forever.
    deadline = time.monotonic() + _MOST_WAIT
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise WorkspaceError("refused", "Another program holds the workspace. Try again.") from None
            time.sleep(_PAUSE)
        else:
            return


def commit_plan(workspace: Workspace, planned: Sequence[PlannedFile]) -> None:
    """Apply a plan; if one change fails, undo those before it.

    Raises:
        WorkspaceError: A change failed, and nothing has changed.
    """
    # A file that is changed twice gets its last planned text; removals come at the end.
    last = {file.path: file.text for file in planned}
    before: list[tuple[str, bytes | None]] = []
    try:
        for path, text in sorted(last.items(), key=lambda it: it[1] is None):
            old = workspace.read_bytes(path) if workspace.is_there(path) else None
            if text is None and old is None:
                continue
            before.append((path, old))
            if text is None:
                workspace.delete(path)
            else:
                workspace.write_bytes(path, text.encode())
    except WorkspaceError:
        for path, old in reversed(before):
            with suppress(WorkspaceError):
                _put_back(workspace, path, old)
        raise


def _put_back(workspace: Workspace, path: str, old: bytes | None) -> None:
    if old is not None:
        workspace.write_bytes(path, old)
    elif workspace.is_there(path):
        workspace.delete(path)


_MOST = 1000


def list_names(workspace: Workspace, path: str) -> str:
    """List a folder: files with their sizes, folders with a trailing slash.

    Raises:
        ToolException: There is no such folder.
    """
    if not workspace.look_at(path).is_folder:
        raise ToolException(f"{path} is a file, not a folder.")
    entries = workspace.list_entries(path, hidden=True)
    lines = [f"{it.name}/" if it.is_folder else f"{it.name}\t{write_short(it.size)}" for it in entries[:_MOST]]
    if len(entries) > _MOST:
        lines.append(f"[{len(entries) - _MOST} more]")
    return "\n".join(lines) or "(empty)"


_MOST_LINES = 999_999

_WIDTH = 6

_LEVELS = 2

_UNITS = "KMG"

_CARRIAGE = "\r"
# Folders that lists leave out.
SKIPPED = frozenset((".git", "node_modules", "__pycache__"))


def number_passage(passage: Passage) -> str:
    """Number lines as `cat -n` does.

    Raises:
        ToolException: There are too many lines.
    """
    lines = passage.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if passage.first + len(lines) - 1 > _MOST_LINES:
        raise ToolException(f"The file exceeds the limit of {_MOST_LINES:,} lines.")
    return "\n".join(
        f"{number:>{_WIDTH}}\t{line.removesuffix(_CARRIAGE)}" for number, line in enumerate(lines, passage.first)
    )


def cut_snippet(text: str, first: int, last: int, around: int) -> str:
    """Return lines of a text, counted from 0, with their surroundings and numbers."""
    lines = text.split("\n")
    start = max(0, first - around)
    return number_passage(Passage("\n".join(lines[start : last + around + 1]), start + 1))


def list_folder(workspace: Workspace, path: str, name: Callable[[str], str] = str) -> str:
    """List a folder two levels deep, without hidden names, each with its total size.

    Args:
        workspace: The workspace.
        path: The path of the folder.
        name: Its name in paths for the model.

    Raises:
        ToolException: There is no such folder.
    """
    top = workspace.look_at(path)
    sizes: Counter[str] = Counter()
    shown = []
    for entry in workspace.walk(path):
        below = entry.path[len(top.path) + 1 :].split("/")
        sizes.update({top.path: entry.size})
        sizes.update({"/".join([top.path, *below[:level]]): entry.size for level in range(1, len(below) + 1)})
        if len(below) <= _LEVELS and not any(part.startswith(".") or part in SKIPPED for part in below):
            shown.append(entry)
    head = f"Here're the files and directories up to {_LEVELS} levels deep in {name(top.path)}, excluding hidden items:"
    lines = [f"{write_short(sizes[top.path])}\t{name(top.path)}"]
    lines += [f"{write_short(sizes[it.path])}\t{name(it.path)}{'/' if it.is_folder else ''}" for it in shown]
    return "\n".join([head, *lines])


def write_short(size: int) -> str:
    """Write a number of bytes as `du -h` does: 0B, 512B, 1.5K, 3M."""
    value = float(size)
    unit = "B"
    for larger in _UNITS:
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f}{unit}" if value == int(value) else f"{value:.1f}{unit}"

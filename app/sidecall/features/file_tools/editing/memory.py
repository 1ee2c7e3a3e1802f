"""The commands of Anthropic's memory tool, with the messages that its models are trained on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sidecall.features.file_tools.editing.editor import (
    cut_snippet,
    edit_text,
    hold_workspace,
    list_folder,
    number_passage,
)
from sidecall.features.file_tools.editing.reading import MOST_EDITED, insert_lines, read_passage, read_whole
from sidecall.features.workspaces.paths import EXAMPLE, HOME, WorkspaceError, join_path, split_path
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException

ROOT = "/memories"
_PLACE = HOME + ROOT
_AROUND = 2


class Memory:
    """The files under `/memories`, in a folder of the workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def view(self, path: str, view_range: Sequence[int] | None) -> str:
        """Show a file with the numbers of its lines, or list a folder."""
        with _naming():
            place = _locate(path)
            if place == _PLACE and not self._workspace.is_there(place):
                self._workspace.make_folder(place)
            if self._is_folder(path):
                return list_folder(self._workspace, place, _name)
            shown = number_passage(read_passage(self._workspace, place, view_range))
        return f"Here's the content of {path} with line numbers:\n{shown}"

    def create(self, path: str, text: str) -> str:
        """Write a new file."""
        with _naming():
            try:
                self._workspace.write_bytes(_locate(path), text.encode(), create_only=True)
            except WorkspaceError as error:
                if error.problem == "exists":
                    raise ToolException(f"File {path} already exists") from None
                raise
        return f"File created successfully at: {path}"

    def replace(self, path: str, old: str, new: str) -> str:
        """Replace the only occurrence of a text in a file."""
        with _naming():
            self._require_file(path)
            with hold_workspace(self._workspace):
                edited = edit_text(read_whole(self._workspace, _locate(path), MOST_EDITED), path, old, new)
                self._workspace.write_bytes(_locate(path), edited.text.encode())
        snippet = cut_snippet(edited.text, edited.first, edited.first, _AROUND)
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{head}\n{snippet}"

    def insert(self, path: str, line: int, text: str) -> str:
        """Insert lines below the line of this number."""
        with _naming():
            self._require_file(path)
            with hold_workspace(self._workspace):
                edited = insert_lines(read_whole(self._workspace, _locate(path), MOST_EDITED), line, text)
                self._workspace.write_bytes(_locate(path), edited.text.encode())
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Delete a file, or a folder with all that is in it."""
        with _naming():
            place = locate_deletable(path)
            try:
                self._workspace.delete(place)
            except WorkspaceError as error:
                if error.problem == "missing":
                    raise ToolException(f"The path {path} does not exist") from None
                raise
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> str:
        """Give a file or folder another path."""
        with _naming():
            if _PLACE in (_locate(old), _locate(new)):
                raise ToolException("Cannot rename the /memories directory itself")
            try:
                self._workspace.rename(_locate(old), _locate(new))
            except WorkspaceError as error:
                if error.problem == "missing":
                    raise ToolException(f"The path {old} does not exist") from None
                if error.problem == "exists":
                    raise ToolException(f"The destination {new} already exists") from None
                raise
        return f"Successfully renamed {old} to {new}"

    def _is_folder(self, path: str) -> bool:
        try:
            return self._workspace.look_at(_locate(path)).is_folder
        except WorkspaceError as error:
            if error.problem == "missing":
                raise ToolException(f"The path {path} does not exist. Please provide a valid path.") from None
            raise

    def _require_file(self, path: str) -> None:
        if self._is_folder(path):
            raise ToolException(f"The path {path} is not a file.")


def locate_deletable(path: str) -> str:
    """Return the workspace path of a memory path that may be deleted, if there is one.

    Raises:
        ToolException: It may never be deleted.
    """
    place = _locate(path)
    if place == _PLACE:
        raise ToolException("Cannot delete the /memories directory itself")
    return place


def _locate(path: str) -> str:
    """Return where in the workspace a path of the memory leads."""
    if path.rstrip("/") != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolException(f"Path must start with /memories, got: {path}")
    return join_path(split_path(HOME + path))


def _name(path: str) -> str:
    return path.removeprefix(HOME)


@contextmanager
def _naming() -> Iterator[None]:
    """Translate workspace paths in errors back to memory paths."""
    try:
        yield
    except ToolException as error:
        if HOME not in error.message:
            raise
        raise ToolException(error.message.replace(_PLACE, ROOT).replace(EXAMPLE, f"{ROOT}/notes.txt")) from None

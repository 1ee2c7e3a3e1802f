"""List a folder."""

from sidecall.features.file_tools.editing.viewing import write_short
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException

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

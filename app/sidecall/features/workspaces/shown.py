"""Files of a workspace in the shape of OpenAI's container files."""

import base64
import binascii
from typing import Any
from urllib.parse import quote

from sidecall.features.workspaces.entries import Entry
from sidecall.features.workspaces.errors import WorkspaceError
from sidecall.features.workspaces.paths import join_path, split_path

_PREFIX = "cfile_"


def show_file(entry: Entry, conversation: str, source: str = "assistant") -> dict[str, Any]:
    """Describe a file of a conversation's workspace; `url` is the address of its content."""
    file_id = make_file_id(entry.path)
    return {
        "id": file_id,
        "object": "container.file",
        "container_id": conversation,
        "path": entry.path,
        "bytes": entry.size,
        "created_at": int(entry.modified),
        "source": source,
        "url": f"/workspaces/{quote(conversation, safe='')}/files/{file_id}/content",
    }


def make_file_id(path: str) -> str:
    """Make the id of a file; another file at its path has the same."""
    return _PREFIX + base64.urlsafe_b64encode("/".join(split_path(path)).encode()).decode().rstrip("=")


def read_file_id(file_id: str) -> str | None:
    """Return the path of the file with this id; None for an invalid id."""
    body = file_id.removeprefix(_PREFIX)
    try:
        text = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True).decode()
        parts = split_path(text)
    except (binascii.Error, ValueError, WorkspaceError):
        return None
    path = join_path(parts)
    return path if parts and make_file_id(path) == file_id else None

"""Images and PDFs of a workspace, as blocks that a model sees."""

import base64
from dataclasses import dataclass

from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.messages import ContentBlock

# For images providers limit the base64, for documents the bytes.
MOST_IMAGE = 5 * 1024 * 1024
MOST_DOCUMENT = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Medium:
    kind: str
    mime_type: str
    beginnings: tuple[bytes, ...]


_PNG = _Medium("image", "image/png", (b"\x89PNG\r\n\x1a\n",))
_JPEG = _Medium("image", "image/jpeg", (b"\xff\xd8\xff",))
_BY_ENDING = {
    "png": _PNG,
    "jpg": _JPEG,
    "jpeg": _JPEG,
    "gif": _Medium("image", "image/gif", (b"GIF87a", b"GIF89a")),
    "webp": _Medium("image", "image/webp", (b"RIFF",)),
    "pdf": _Medium("file", "application/pdf", (b"%PDF-",)),
}


def is_medium(path: str) -> bool:
    """Return whether a file is shown as an image or a document, by its extension."""
    return _ending_of(path) in _BY_ENDING


def read_medium(workspace: Workspace, path: str) -> ContentBlock:
    """Read an image or a document.

    Raises:
        ToolException: It is too large, or not of the type that its name says.
    """
    medium = _BY_ENDING[_ending_of(path)]
    is_image = medium.kind == "image"
    most = MOST_IMAGE // 4 * 3 if is_image else MOST_DOCUMENT
    content = workspace.read_bytes(path, 0, most + 1)
    if len(content) > most:
        what = f"an image may have {most} bytes" if is_image else f"a PDF may have {most} bytes"
        raise ToolException(f"{path} has {workspace.look_at(path).size} bytes, and {what} to be shown.")
    if not content.startswith(medium.beginnings):
        raise ToolException(f"{path} does not hold what its name says: it is no {medium.mime_type}.")
    block: ContentBlock = {
        "type": medium.kind,
        "base64": base64.b64encode(content).decode(),
        "mime_type": medium.mime_type,
    }
    return block if is_image else {**block, "filename": path.rpartition("/")[2]}


def _ending_of(path: str) -> str:
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return ending.lower() if dot else ""

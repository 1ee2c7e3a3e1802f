"""Images and PDFs become blocks, where they are what their names say and a provider takes them."""

import base64

import pytest

from sidecall.features.file_tools.editing.media import MOST_DOCUMENT, MOST_IMAGE, is_medium, read_medium
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


@pytest.mark.parametrize(
    ("path", "content", "block"),
    [
        ("a.png", PNG, {"type": "image", "mime_type": "image/png"}),
        ("dir/A.JPEG", b"\xff\xd8\xffrest", {"type": "image", "mime_type": "image/jpeg"}),
        ("a.gif", b"GIF89arest", {"type": "image", "mime_type": "image/gif"}),
        ("a.webp", b"RIFF0000WEBP", {"type": "image", "mime_type": "image/webp"}),
        ("x/a.pdf", b"%PDF-1.7", {"type": "file", "mime_type": "application/pdf", "filename": "a.pdf"}),
    ],
)
def test_blocks(workspace: Workspace, path: str, content: bytes, block: dict[str, str]) -> None:
    """In the words of LangChain, which each provider's form is made from."""
    workspace.write_bytes(path, content)

    assert is_medium(path)
    assert read_medium(workspace, path) == {**block, "base64": base64.b64encode(content).decode()}


@pytest.mark.parametrize(
    ("path", "size", "reason"),
    [
        ("a.png", MOST_IMAGE // 4 * 3 + 1, "a.png has 3932161 bytes, and an image may have 3932160 bytes to be shown."),
        ("a.pdf", MOST_DOCUMENT + 1, "a.pdf has 20971521 bytes, and a PDF may have 20971520 bytes to be shown."),
        ("a.gif", 10, "a.gif does not hold what its name says: it is no image/gif."),
    ],
)
def test_what_no_provider_takes_is_refused(workspace: Workspace, path: str, size: int, reason: str) -> None:
    """Since it would end the agent's run."""
    workspace.write_bytes(path, b"\x89PNG\r\n\x1a\n" + b"0" * (size - 8))

    with pytest.raises(ToolException) as refused:
        read_medium(workspace, path)

    assert refused.value.message == reason


def test_other_files_are_no_media() -> None:
    """An SVG is a text, which may hold scripts."""
    assert not any(map(is_medium, ["a.svg", "a.py", "png", "a", ""]))

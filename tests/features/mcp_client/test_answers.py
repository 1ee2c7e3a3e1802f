"""What a server answers becomes what a tool of ours returns."""

from typing import Any

import pytest

from sidecall.features.mcp_client.link import RemoteAnswer
from sidecall.features.mcp_client.tools import read_remote_answer
from sidecall.kernel.core.errors import ToolException

TEXT = {"type": "text", "text": "a"}
LINK = {"type": "resource_link", "uri": "file:///c", "name": "c"}


def write_origin(uri: str) -> dict[str, Any]:
    """Write of which resource a block was made."""
    return {"type": "resource", "resource": {"uri": uri}}


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ([], []),
        ([TEXT], "a"),
        ([TEXT, TEXT], [TEXT, TEXT]),
        (
            [{"type": "image", "data": "AA==", "mimeType": "image/png"}],
            [{"type": "image", "base64": "AA==", "mime_type": "image/png"}],
        ),
        (
            [{"type": "audio", "data": "AA==", "mimeType": "audio/wav"}],
            [{"type": "file", "base64": "AA==", "mime_type": "audio/wav"}],
        ),
        (
            [{"type": "resource", "resource": {"uri": "file:///a.txt", "text": "note"}}],
            [{"type": "text", "text": "note", "extras": {"mcp": write_origin("file:///a.txt")}}],
        ),
        (
            [{"type": "resource", "resource": {"uri": "file:///d/a.bin", "blob": "AA=="}}],
            [
                {
                    "type": "file",
                    "base64": "AA==",
                    "mime_type": "application/octet-stream",
                    "filename": "a.bin",
                    "extras": {"mcp": write_origin("file:///d/a.bin")},
                }
            ],
        ),
        ([LINK], [{"type": "text", "text": "[resource c: file:///c]", "extras": {"mcp": LINK}}]),
        ([{"type": "hologram"}], "[a block of the type hologram]"),
    ],
)
def test_blocks_become_content(blocks: list[Any], content: Any) -> None:
    """One text is a text."""
    assert read_remote_answer(RemoteAnswer(blocks))[0] == content


@pytest.mark.parametrize(
    ("answer", "content", "artifact"),
    [
        (RemoteAnswer([TEXT], has_value=True, value={"n": 1}), "a", {"structured_content": {"n": 1}}),
        (RemoteAnswer([], has_value=True, value={"n": 1}), '{"n": 1}', {"structured_content": {"n": 1}}),
        (RemoteAnswer([TEXT], artifact={"kept": 1}, has_value=True, value={"n": 1}), "a", {"kept": 1}),
        (
            RemoteAnswer([LINK]),
            [{"type": "text", "text": "[resource c: file:///c]", "extras": {"mcp": LINK}}],
            {"resource_links": [LINK]},
        ),
        (RemoteAnswer([TEXT]), "a", None),
    ],
)
def test_values_and_links_are_for_the_program(answer: RemoteAnswer, content: Any, artifact: Any) -> None:
    """They stand in the artifact."""
    assert read_remote_answer(answer) == (content, artifact)


@pytest.mark.parametrize(
    ("blocks", "text"),
    [([TEXT], "a"), ([], "Error: the call failed, and its server does not say why.")],
)
def test_an_error_is_the_models(blocks: list[Any], text: str) -> None:
    """In the server's words."""
    with pytest.raises(ToolException) as failed:
        read_remote_answer(RemoteAnswer(blocks, is_error=True))

    assert failed.value.message == text


def test_an_error_with_more_than_words_is_a_message() -> None:
    """Which has its blocks, and its value for the program."""
    failed, artifact = read_remote_answer(RemoteAnswer([TEXT, TEXT], is_error=True, has_value=True, value={"n": 1}))

    assert (failed.status, failed.content) == ("error", [TEXT, TEXT])
    assert artifact == failed.artifact == {"structured_content": {"n": 1}}

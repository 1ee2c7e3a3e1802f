"""Texts, images and files of the OpenAI Agents SDK's classes are blocks of content."""

from typing import Any

import pytest
from pydantic import ValidationError

from sidecall import ToolOutputFileContent, ToolOutputImage, ToolOutputText, function_tool, tool
from tests.kit.calls import run

IMAGE = ToolOutputImage(image_url="https://e.org/i.png", detail="low")
FILE = ToolOutputFileContent(file_id="f1", filename="a.pdf")
IMAGE_BLOCK = {"type": "image", "image_url": "https://e.org/i.png", "detail": "low"}
FILE_BLOCK = {"type": "file", "file_id": "f1", "filename": "a.pdf"}
TEXT_DICT = {"type": "text", "text": "hi"}


@pytest.mark.parametrize(
    ("returned", "content", "as_function_tool"),
    [
        (ToolOutputText(text="hi"), [TEXT_DICT], [TEXT_DICT]),
        (IMAGE, [IMAGE_BLOCK], [IMAGE_BLOCK]),
        ([IMAGE, TEXT_DICT, FILE], [IMAGE_BLOCK, TEXT_DICT, FILE_BLOCK], [IMAGE_BLOCK, TEXT_DICT, FILE_BLOCK]),
        (TEXT_DICT, '{"type": "text", "text": "hi"}', [TEXT_DICT]),
        ([TEXT_DICT, FILE_BLOCK], [TEXT_DICT, FILE_BLOCK], [TEXT_DICT, FILE_BLOCK]),
        ({"type": "image"}, '{"type": "image"}', '{"type": "image"}'),
        ({"type": ["text"]}, '{"type": ["text"]}', '{"type": ["text"]}'),
        ([IMAGE, 1], f"[{IMAGE.model_dump_json()}, 1]", f"[{IMAGE.model_dump_json()}, 1]"),
        (["a", "b"], ["a", "b"], '["a", "b"]'),
    ],
    ids=str,
)
async def test_outputs_are_blocks(returned: Any, content: Any, as_function_tool: Any) -> None:
    """Dicts and lists of texts are read as each library reads them."""

    async def show() -> Any:
        """Show something."""
        return returned

    told = [(await run(tool(show))).content, (await run(function_tool(show))).content]

    assert [_without_spaces(it) for it in told] == [_without_spaces(content), _without_spaces(as_function_tool)]


def _without_spaces(content: Any) -> Any:
    return content.replace(" ", "") if isinstance(content, str) else content


@pytest.mark.parametrize("kind", [ToolOutputImage, ToolOutputFileContent])
def test_an_image_or_a_file_is_somewhere(kind: Any) -> None:
    """Otherwise there is nothing to show."""
    with pytest.raises(ValidationError, match="At least one of"):
        kind()

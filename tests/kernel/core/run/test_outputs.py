"""Texts, images and files of the OpenAI Agents SDK's classes are blocks of content."""

from typing import Any

import pytest
from langchain_core.messages import ToolMessage as LangChainMessage
from langchain_core.messages import convert_to_openai_messages
from pydantic import ValidationError

from sidecall import ToolOutputFileContent, ToolOutputImage, ToolOutputText, function_tool, tool
from sidecall.rest.dialect_writers import write_responses
from tests.kit.calls import run

IMAGE = ToolOutputImage(image_url="https://e.org/i.png", detail="low")
FILE = ToolOutputFileContent(file_id="f1", filename="a.pdf")
IMAGE_BLOCK = {"type": "image", "url": "https://e.org/i.png", "extras": {"detail": "low"}}
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
        (["hi", IMAGE], [TEXT_DICT, IMAGE_BLOCK], [TEXT_DICT, IMAGE_BLOCK]),
        (("hi", FILE_BLOCK, IMAGE), [TEXT_DICT, FILE_BLOCK, IMAGE_BLOCK], [TEXT_DICT, FILE_BLOCK, IMAGE_BLOCK]),
        (["a", TEXT_DICT], ["a", TEXT_DICT], '["a", {"type": "text", "text": "hi"}]'),
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


IN_URL = "data:image/gif;base64,R0lGOD=="
IN_WORDS = "data:image/svg+xml,%3Csvg/%3E"


@pytest.mark.parametrize(
    ("image", "block", "address"),
    [
        ({"image_url": IN_URL}, {"base64": "R0lGOD==", "mime_type": "image/gif"}, IN_URL),
        ({"image_url": IN_WORDS}, {"url": IN_WORDS}, IN_WORDS),
        ({"image_url": "https://e.org/i.png"}, {"url": "https://e.org/i.png"}, "https://e.org/i.png"),
    ],
)
async def test_an_image_is_a_block_that_langchain_takes(image: Any, block: Any, address: str) -> None:
    """As those of other tools are."""

    async def show() -> Any:
        """Show something."""
        return ToolOutputImage(**image)

    message = await run(tool(show))
    (converted,) = convert_to_openai_messages([LangChainMessage(**message.model_dump())])

    assert message.content == [{"type": "image", **block}]
    assert converted["content"] == [{"type": "image_url", "image_url": {"url": address}}]


async def test_an_image_that_the_provider_keeps_is_known_by_its_id() -> None:
    """In the forms that have ids."""

    async def show() -> Any:
        """Show something."""
        return ToolOutputImage(file_id="f1", detail="high")

    message = await run(tool(show))

    assert message.content == [{"type": "image", "file_id": "f1", "extras": {"detail": "high"}}]
    assert write_responses(message)["output"] == [{"type": "input_image", "file_id": "f1", "detail": "high"}]

"""A return annotation that names content, such as an image, promises no value: blocks once, at every door."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Annotated, Any, Union

import pytest
from typing_extensions import TypeAliasType

from sidecall import (
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputImageDict,
    ToolOutputText,
    ToolOutputTextDict,
    tool,
)
from sidecall.kernel.core.agents_outputs import promises_content
from tests.features.mcp_server.messages import ask
from tests.kit.clients import MakeClient

PIXEL = "iVBORw0KGgo="
IMAGE = ToolOutputImage(image_url=f"data:image/png;base64,{PIXEL}")
IMAGE_DICT = {"type": "image", "image_url": f"data:image/png;base64,{PIXEL}"}
TEXT = ToolOutputText(text="a pixel")
SHOWN = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
SAID = {"type": "text", "text": "a pixel"}
Picture = TypeAliasType("Picture", ToolOutputImage)


class Gallery(ToolOutputText):
    """A value of one's own."""

    place: str = "here"


CONTENT = [
    ToolOutputText,
    ToolOutputImage,
    ToolOutputFileContent,
    ToolOutputImageDict,
    type("ToolOutputImage", (), {"__module__": "agents.tool"}),
    ToolOutputText | ToolOutputImage,
    Union[ToolOutputText, ToolOutputImage],  # noqa: UP007  both forms are written
    ToolOutputImage | None,
    str | ToolOutputImage,
    dict[str, int] | list[ToolOutputImage],
    list[ToolOutputImage],
    list[ToolOutputText | ToolOutputImageDict],
    Sequence[ToolOutputImage],
    tuple[ToolOutputText, ToolOutputImage],
    tuple[ToolOutputImage, ...],
    Iterator[ToolOutputImage],
    Annotated[ToolOutputImage, "a picture"],
    list[Annotated[Picture, "a picture"]],
    Picture,
]
VALUES = [int, str, None, list[str], dict[str, ToolOutputImage], Gallery, list[Gallery], type, Any]


@pytest.mark.parametrize("annotation", CONTENT, ids=str)
def test_content_has_no_output_schema(annotation: Any) -> None:
    """It says what a model is shown, and programs read it there."""

    def show() -> Any:
        """Show."""

    show.__annotations__["return"] = annotation

    assert promises_content(annotation)
    assert (tool(show).compiled.output_schema, tool(show).compiled.results) == (None, None)


@pytest.mark.parametrize("annotation", VALUES, ids=str)
def test_values_are_no_content(annotation: Any) -> None:
    """Nor are objects that have some inside."""
    assert not promises_content(annotation)


@tool
def draw() -> ToolOutputImage:
    """Draw."""
    return IMAGE


@tool
def draw_or_say(draw: bool = True) -> ToolOutputText | ToolOutputImage:
    """Draw or say."""
    return IMAGE if draw else TEXT


@tool
def draw_by_dict() -> ToolOutputImageDict:
    """Draw."""
    return {"type": "image", "image_url": IMAGE_DICT["image_url"]}


@tool
def draw_several() -> list[ToolOutputText | ToolOutputImage]:
    """Draw several."""
    return [TEXT, IMAGE]


@tool
def draw_by_dicts() -> list[ToolOutputTextDict | ToolOutputImageDict]:
    """Draw several."""
    return [{"type": "text", "text": "a pixel"}, {"type": "image", "image_url": IMAGE_DICT["image_url"]}]


@tool
def draw_with_words() -> list[str | ToolOutputImage]:
    """Draw, and say what."""
    return ["a pixel", IMAGE]


@tool(response_format="content_and_artifact")
def draw_with_plan() -> tuple[list[ToolOutputText | ToolOutputImage], dict[str, int]]:
    """Draw with a plan."""
    return [TEXT, IMAGE], {"lines": 1}


@tool
async def draw_bit_by_bit() -> AsyncIterator[ToolOutputText | ToolOutputImage]:
    """Draw one after the other."""
    yield TEXT
    yield IMAGE


@tool
def perhaps(text: str | None = None) -> str | ToolOutputImage | None:
    """Say a text, or draw, or neither."""
    return text


TOOLS = (
    draw,
    draw_or_say,
    draw_by_dict,
    draw_several,
    draw_by_dicts,
    draw_with_words,
    draw_with_plan,
    draw_bit_by_bit,
    perhaps,
)
CALLS: list[tuple[str, dict[str, Any], list[Any], str]] = [
    ("draw", {}, [SHOWN], "image"),
    ("draw_or_say", {}, [SHOWN], "image"),
    ("draw_or_say", {"draw": False}, [SAID], "a pixel"),
    ("draw_by_dict", {}, [SHOWN], "image"),
    ("draw_several", {}, [SAID, SHOWN], "a pixel"),
    ("draw_by_dicts", {}, [SAID, SHOWN], "a pixel"),
    ("draw_with_words", {}, [SAID, SHOWN], "a pixel"),
    ("draw_with_plan", {}, [SAID, SHOWN], "a pixel"),
    ("draw_bit_by_bit", {}, [SAID, SHOWN], "a pixel"),
    ("perhaps", {"text": "none"}, [{"type": "text", "text": "none"}], "none"),
    ("perhaps", {}, [{"type": "text", "text": "null"}], "null"),
]


@pytest.mark.parametrize(("name", "args", "blocks", "words"), CALLS)
async def test_the_blocks_come_once(
    make_client: MakeClient, name: str, args: dict[str, Any], blocks: Any, words: str
) -> None:
    """Over MCP as content without a value beside it; as an operation in words, with the place of an image."""
    client = await make_client(*TOOLS)

    result = (await ask(client, "tools/call", name=name, arguments=args)).json()["result"]
    answer = await client.post(f"/tools/{name}/call", json=args)

    assert (result["isError"], result["content"]) == (False, blocks)
    assert "structuredContent" not in result
    assert answer.status_code == 200
    assert words in answer.json()
    assert PIXEL not in answer.text


async def test_no_list_promises_a_value_of_them(make_client: MakeClient) -> None:
    """Neither that of MCP nor the document of the operations nor what is shown of one tool."""
    client = await make_client(*TOOLS)

    listed = (await ask(client, "tools/list")).json()["result"]["tools"]
    document = (await client.get("/openapi/tools.json")).json()["paths"]
    shown = [(await client.get(f"/tools/{it.name}")).json()["output_schema"] for it in TOOLS]

    answers = [path["post"]["responses"]["200"]["content"]["application/json"]["schema"] for path in document.values()]
    assert [it for it in listed if "outputSchema" in it] == []
    assert answers == [{"type": "string"}] * len(TOOLS)
    assert shown == [None] * len(TOOLS)

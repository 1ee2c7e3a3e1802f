"""Tools of CrewAI, Semantic Kernel, CAMEL and LlamaIndex that answer with images, sounds and files."""

import base64
from typing import Any

import PIL.Image
from camel.toolkits import FunctionTool as CamelTool
from camel.utils.tool_result import ToolResult
from crewai.tools import tool
from llama_index.core.base.llms.types import AudioBlock, DocumentBlock, TextBlock, VideoBlock
from llama_index.core.tools import FunctionTool
from semantic_kernel.contents import AudioContent, ImageContent
from semantic_kernel.functions import kernel_function

PIXEL = b"\x89PNG\r\n\x1a\n"
ADDRESS = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"


@tool
def draw_crewai(title: str) -> Any:
    """Draw."""
    return [title, PIL.Image.new("RGB", (1, 1))]


@kernel_function
def draw_kernel(title: str) -> list[Any]:
    """Draw."""
    return [title, ImageContent(data_uri=ADDRESS), AudioContent(data=PIXEL, mime_type="audio/wav")]


def draw_camel(title: str) -> ToolResult:
    """Draw.

    Args:
        title (str): What.
    """
    return ToolResult(title, [ADDRESS])


def film(title: str) -> list[Any]:
    """Film."""
    return [
        TextBlock(text=title),
        AudioBlock(audio=PIXEL, format="wav"),
        VideoBlock(video=PIXEL, video_mimetype="video/mp4"),
        DocumentBlock(data=PIXEL, document_mimetype="application/pdf", title="a.pdf"),
    ]


draw_tools = [draw_crewai, CamelTool(draw_camel), FunctionTool.from_defaults(film)]

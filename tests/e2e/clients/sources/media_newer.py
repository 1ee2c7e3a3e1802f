"""Tools of ADK, agno, DSPy, Haystack and smolagents that answer with media, and a toolkit that connects."""

import base64
from typing import Any, ClassVar

import dspy
import PIL.Image
from agno.media import File, Image
from agno.tools import Toolkit
from agno.tools.function import ToolResult
from google.adk.tools import FunctionTool
from google.genai import types
from haystack.dataclasses import FileContent, ImageContent, TextContent
from haystack.tools import tool as haystack_tool
from smolagents import Tool, tool
from smolagents.agent_types import AgentImage

PIXEL = b"\x89PNG\r\n\x1a\n"
TEXT = base64.b64encode(PIXEL).decode()


def draw_adk(title: str) -> list[Any]:
    """Draw."""
    return [title, types.Part.from_bytes(data=PIXEL, mime_type="image/png"), types.Part.from_text(text="Done.")]


def draw_agno(title: str) -> ToolResult:
    """Draw."""
    picture = Image(content=PIXEL, mime_type="image/png")
    note = File(content=b"a note", mime_type="text/plain", filename="note.txt")
    return ToolResult(content=title, images=[picture], files=[note])


def draw_dspy(title: str) -> list[Any]:
    """Draw."""
    sound = dspy.Audio(data=TEXT, audio_format="wav")
    return [title, dspy.Image(url=f"data:image/png;base64,{TEXT}"), sound, dspy.File(f"data:text/plain;base64,{TEXT}")]


@haystack_tool(outputs_to_string={"raw_result": True})
def draw_haystack(title: str) -> list[Any]:
    """Draw."""
    note = FileContent(base64_data=TEXT, mime_type="text/plain", filename="note.txt")
    return [TextContent(title), ImageContent(base64_image=TEXT, mime_type="image/png"), note]


@tool
def draw_smolagents(title: str) -> Any:
    """Draw.

    Args:
        title: What.
    """
    return AgentImage(PIL.Image.new("CMYK" if title == "print" else "RGB", (1, 1)))


class Sing(Tool):
    """Sing."""

    name = "sing"
    description = "Sing."
    inputs: ClassVar[Any] = {"title": {"type": "string", "description": "What."}}
    output_type = "audio"

    def forward(self, title: str) -> Any:
        """Sing it."""
        return title


class Shelf(Toolkit):
    """Books behind a connection."""

    _requires_connect = True

    def __init__(self) -> None:
        self.opened, self.is_open = 0, False
        super().__init__(name="shelf", tools=[self.find_book], async_tools=[(self.alist, "list_books")])

    def connect(self) -> None:
        """Open it, unless it is broken."""
        if self.opened == 3:
            self.opened += 1
            raise ConnectionError("the shelf is far away")
        self.is_open, self.opened = True, self.opened + 1

    def close(self) -> None:
        """Close it."""
        self.is_open = False

    def find_book(self, title: str) -> str:
        """Find a book."""
        if title == "none":
            raise LookupError("no such book")
        return f"{title}: {self.is_open}, {self.opened}"

    async def alist(self) -> str:
        """List the books."""
        return f"list: {self.is_open}, {self.opened}"


draw_tools = [
    FunctionTool(draw_adk),
    Toolkit(name="drawing", tools=[draw_agno]),
    dspy.Tool(draw_dspy),
    draw_haystack,
    draw_smolagents,
]
sing = Sing()
shelf = Shelf()

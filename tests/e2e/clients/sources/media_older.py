"""A tool of AutoGen that answers with an image."""

import PIL.Image
from autogen_core import Image
from autogen_core.tools import FunctionTool


def draw_autogen(title: str) -> Image:
    """Draw."""
    return Image(PIL.Image.new("RGB", (len(title), 1)))


draw_tool = FunctionTool(draw_autogen, description="Draw.")

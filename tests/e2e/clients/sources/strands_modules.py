"""Modules that are tools of Strands, or have some, in a list; a provider of tools."""

from collections.abc import Sequence
from typing import Any

import strands_helpers
import strands_weather
from strands import tool
from strands.tools import ToolProvider


@tool
def lend(book: str) -> str:
    """Lend a book."""
    return f"{book} is yours"


@tool
def show_film(title: str) -> dict[str, Any]:
    """Show a film."""
    film = {"format": "mp4", "source": {"bytes": b"\x89PNG\r\n\x1a\n"}}
    return {"status": "success", "content": [{"text": title}, {"video": film}]}


class Library(ToolProvider):
    """A provider."""

    def __init__(self) -> None:
        self.consumers: set[Any] = set()

    async def load_tools(self, **_: Any) -> Sequence[Any]:
        """Give the tools, if somebody uses them."""
        return [lend] if self.consumers else []

    def add_consumer(self, consumer_id: Any, **_: Any) -> None:
        """Note who uses them."""
        self.consumers.add(consumer_id)

    def remove_consumer(self, consumer_id: Any, **_: Any) -> None:
        """Forget who uses them."""
        self.consumers.discard(consumer_id)


module_tools = [strands_weather, strands_helpers]
library = Library()

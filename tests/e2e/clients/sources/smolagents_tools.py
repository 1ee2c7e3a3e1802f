"""Tools as the pages of smolagents have them: catering, a class of one's own, its own interpreter."""

from typing import Any, ClassVar

from smolagents import FinalAnswerTool, Tool, ToolCollection, tool

from sidecall import tool as sidecall_tool


@tool
def rate_catering(service: str, stars: int | None = None) -> str:
    """Rate a catering service.

    Args:
        service: Its name.
        stars: How many stars it has.
    """
    if service == "none":
        raise ValueError("no such service")
    return f"{service}: {'-' if stars is None else '*' * stars}"


class Themes(Tool):
    """Themes of parties."""

    name = "find_theme"
    description = "Find the theme of a party."
    inputs: ClassVar[Any] = {
        "category": {"type": "string", "description": "Its kind.", "enum": ["villain", "hero"]},
        "guests": {"type": "array", "description": "Who comes.", "items": {"type": "string"}, "nullable": True},
    }
    output_type = "object"

    def forward(self, category: str, guests: list[str] | None = None) -> dict[str, Any]:
        """Find it."""
        return {"category": category, "guests": guests}


themes = ToolCollection([Themes()])
final_answer = FinalAnswerTool()


@sidecall_tool
def smolagents_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask smolagents itself."""
    known = {it.name: it for it in (rate_catering, final_answer, *themes.tools)}
    return known[name](**args)

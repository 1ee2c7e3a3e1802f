"""Tools as the pages of Strands have them: letters counted, a table looked up, a picture."""

import base64
from types import SimpleNamespace
from typing import Any

from strands import ToolContext, tool

from sidecall import tool as sidecall_tool

PIXEL = b"\x89PNG\r\n\x1a\n"


@tool
def letter_counter(word: str, letter: str, start: int | None = None) -> int:
    """Count a letter in a word.

    Args:
        word: The word to look through.
        letter: The letter to look for.
        start: Where to begin.
    """
    if len(letter) != 1:
        raise ValueError("the letter must be a single character")
    return word[start or 0 :].lower().count(letter.lower())


@tool(name="find_rows", description="Find rows of a table.")
async def look_up(table: str, limit: int = 2) -> dict[str, Any]:
    """Find rows."""
    if table == "none":
        return {"status": "error", "content": [{"text": "There is no such table."}]}
    return {"status": "success", "content": [{"json": {"table": table, "rows": list(range(limit))}}]}


@tool(context=True)
def draw(title: str, tool_context: ToolContext) -> dict[str, Any]:
    """Draw a picture with a title."""
    owner = tool_context.agent.state.get("owner")
    image = {"format": "png", "source": {"bytes": PIXEL}}
    text = f"{title} for {owner}, {tool_context.tool_use['toolUseId']}"
    return {"status": "success", "content": [{"text": text}, {"image": image}]}


@tool(context=True)
def spend(amount: int, tool_context: ToolContext) -> str:
    """Spend money, if a person agrees."""
    return f"{tool_context.interrupt('spending', reason={'amount': amount})} {amount}"


strands_tools = [letter_counter, look_up, draw, spend]


@sidecall_tool
async def strands_itself(name: str, args: dict[str, Any], state: dict[str, Any]) -> Any:
    """Ask Strands itself."""
    known = {it.tool_name: it for it in strands_tools}
    agent = SimpleNamespace(state=state)
    use = {"toolUseId": "c1", "name": name, "input": args}
    events = [event async for event in known[name].stream(use, {"agent": agent})]
    result = events[-1].tool_result
    if result["status"] == "error":
        raise RuntimeError(result["content"])
    first, *rest = result["content"]
    if not rest:
        return first.get("json", first.get("text"))
    image = {"base64": base64.b64encode(rest[0]["image"]["source"]["bytes"]).decode(), "mime_type": "image/png"}
    return [{"type": "text", **first}, {"type": "image", **image}]

"""A module that is a tool of Strands, as its pages have them."""

from typing import Any

from strands.types.tools import ToolResult, ToolUse

TOOL_SPEC = {
    "name": "strands_weather",
    "description": "Tell the weather of a city.",
    "inputSchema": {
        "json": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Which."}},
            "required": ["city"],
        }
    },
}


def strands_weather(tool: ToolUse, **kwargs: Any) -> ToolResult:
    """Tell it."""
    city = tool["input"]["city"]
    if city == "Atlantis":
        return {"toolUseId": tool["toolUseId"], "status": "error", "content": [{"text": "It is under water."}]}
    owner = kwargs["agent"].state.get("owner")
    return {"toolUseId": tool["toolUseId"], "status": "success", "content": [{"text": f"{city}: 20 for {owner}"}]}

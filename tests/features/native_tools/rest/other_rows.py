"""Calls as Anthropic's and Google's models emit them, and what each is answered with."""

from typing import Any

from anthropic.types.beta import BetaToolResultBlockParam

from tests.features.native_tools.rest.built_in import TAB, write_tool_use

STATE = {"type": "browser_state", "tabs": [TAB]}
# How a call is sent, and the answer with the type that its provider's library has for it.
OTHERS: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "bash": (
        write_tool_use("bash", command="false"),
        BetaToolResultBlockParam,
        {"type": "tool_result", "tool_use_id": "c1", "content": "false\n[exit code 3]", "is_error": False},
    ),
    "bash, again": (
        write_tool_use("bash", restart=True),
        BetaToolResultBlockParam,
        {"type": "tool_result", "tool_use_id": "c1", "content": "restarted", "is_error": False},
    ),
    "editor": (
        write_tool_use("str_replace_based_edit_tool", command="view", path="a.txt"),
        BetaToolResultBlockParam,
        {"type": "tool_result", "tool_use_id": "c1", "content": "view a.txt", "is_error": False},
    ),
    "memory": (
        write_tool_use("memory", command="view", path="/memories"),
        BetaToolResultBlockParam,
        {"type": "tool_result", "tool_use_id": "c1", "content": "view /memories", "is_error": False},
    ),
    "Anthropic's computer": (
        write_tool_use("computer", action="left_click", coordinate=[1, 2]),
        BetaToolResultBlockParam,
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [
                {"type": "text", "text": "left_click [1, 2]"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}},
            ],
            "is_error": False,
        },
    ),
    "member of a toolset": (
        write_tool_use("key", toolset_name="browser", text="Enter"),
        BetaToolResultBlockParam,
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [
                {"type": "text", "text": "Pressed Enter."},
                {**STATE, "state_changes": [{"type": "tab_opened", "tab_id": "t1"}]},
            ],
            "is_error": False,
            "toolset_name": "browser",
        },
    ),
    "member that has only the state": (
        write_tool_use("list_tabs", toolset_name="browser"),
        BetaToolResultBlockParam,
        {"type": "tool_result", "tool_use_id": "c1", "content": [STATE], "is_error": False, "toolset_name": "browser"},
    ),
    "member of the other toolset": (
        write_tool_use("key", toolset_name="computer", text="Enter"),
        BetaToolResultBlockParam,
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": "computer Enter",
            "is_error": False,
            "toolset_name": "computer",
        },
    ),
    "member that fails": (
        write_tool_use("key", toolset_name="browser", text="fail"),
        BetaToolResultBlockParam,
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": "No focus.\nOpen tabs (1):\n* [t1] Home https://example.com",
            "is_error": True,
            "toolset_name": "browser",
        },
    ),
    "member that fails without a word": (
        write_tool_use("key", toolset_name="browser", text="mute"),
        BetaToolResultBlockParam,
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": "Tool execution error",
            "is_error": True,
            "toolset_name": "browser",
        },
    ),
    "step of Gemini's": (
        {"type": "function_call", "id": "g2", "name": "echo", "arguments": {"text": "a"}},
        None,
        {"type": "function_result", "call_id": "g2", "name": "echo", "result": "a", "is_error": False},
    ),
    "step of Gemini's, with an image": (
        {"type": "function_call", "id": "g2", "name": "show", "arguments": {"text": "a"}},
        None,
        {
            "type": "function_result",
            "call_id": "g2",
            "name": "show",
            "result": [
                {"type": "text", "text": "a"},
                {"type": "image", "mime_type": "image/png", "data": "iVBORw=="},
            ],
            "is_error": False,
        },
    ),
    "Gemini's computer": (
        {"functionCall": {"id": "g1", "name": "click_at", "args": {"x": 3, "y": 4}}},
        None,
        {
            "functionResponse": {
                "id": "g1",
                "name": "click_at",
                "response": {"output": "The page is https://example.com/3/4", "url": "https://example.com/3/4"},
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}],
            }
        },
    ),
}

"""The tools that the official conformance suite of MCP calls, as far as a server of tools has such.

`sidecall serve --tools tests/mcp/conformance_tools.py`, and then, with Node 22:
`npx @modelcontextprotocol/conformance server --url http://127.0.0.1:8000/mcp --requirements 2026-07-28`.
"""

import asyncio
from typing import Any

from sidecall import ToolContext, ToolException, tool

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
_IMAGE = {"type": "image", "base64": _PIXEL, "mime_type": "image/png"}
_TEXT = {"type": "file", "base64": "aGVsbG8=", "mime_type": "text/plain", "filename": "hello.txt"}


@tool
async def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@tool
async def test_image_content() -> list[Any]:
    """Return an image."""
    return [_IMAGE]


@tool
async def test_audio_content() -> list[Any]:
    """Return a sound."""
    return [{"type": "file", "base64": _SOUND, "mime_type": "audio/wav"}]


@tool
async def test_embedded_resource() -> list[Any]:
    """Return a file."""
    return [_TEXT]


@tool
async def test_multiple_content_types() -> list[Any]:
    """Return a text, an image and a file."""
    return [{"type": "text", "text": "Multiple content types test:"}, _IMAGE, _TEXT]


@tool
async def test_error_handling() -> str:
    """Fail."""
    raise ToolException("This tool intentionally returns an error for testing")


@tool
async def test_tool_with_progress(*, context: ToolContext) -> str:
    """Report progress."""
    for done in (0, 50, 100):
        await context.progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return "done"


@tool(requires_approval=True)
async def test_input_required_result_elicitation() -> str:
    """Ask a person first."""
    return "approved"


@tool(requires_approval=True)
async def test_input_required_result_tampered_state() -> str:
    """Ask a person first, and know what is given back."""
    return "approved"


@tool(requires_approval=True)
async def test_input_required_result_capabilities() -> str:
    """Ask a person first, where the client can."""
    return "approved"


@tool(requires_approval=True)
async def test_input_required_result_request_state() -> str:
    """Ask a person first, and know the call again."""
    return "state-ok"

"""The tools that the official conformance suite of MCP calls by name, as far as a server of tools has such."""

import asyncio
from typing import Annotated, Any

from pydantic import Field

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


@tool(requires_approval=True)
async def test_streaming_elicitation() -> str:
    """Ask a person first, without a request of the server's own."""
    return "approved"


@tool
async def test_logging_tool(*, context: ToolContext) -> str:
    """Write to the server's log, and none of it to the client."""
    context.log.warning("Logged for the operator.")
    return "logged"


@tool
async def test_headers(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})], count: int) -> str:
    """Take an argument that stands in a header too."""
    return f"{count} in {region}"


_ADDRESS = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
_CONTACT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", **_ADDRESS}},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@tool(args_schema=_CONTACT)
async def json_schema_2020_12_tool(**contact: Any) -> str:
    """Take what a schema with conditions describes."""
    return str(contact["name"])

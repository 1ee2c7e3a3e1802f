"""Write what a tool returned as MCP's blocks of content."""

import base64
import binascii
import json
from typing import Any
from urllib.parse import quote

from sidecall.features.mcp_server.resources import make_uri
from sidecall.kernel.core.block_origin import find_beside, find_origin
from sidecall.kernel.core.content_blocks import Media, Part, read_block
from sidecall.kernel.core.messages import ContentBlock, ToolMessage
from sidecall.kernel.core.notes import find_note

# URIs of contents that came within an answer, which cannot be read again.
_INLINE = "sidecall:///inline/"

# Media with a block type of their own.
_SHOWN = frozenset(("image", "audio"))

McpBlock = dict[str, Any]


def write_blocks(message: ToolMessage) -> list[McpBlock]:
    """Write a message's content, with a link to the whole where it was cut."""
    content = message.content
    blocks = (
        [_write_text(content)]
        if isinstance(content, str)
        else [_write_origin(block) or {**_write_part(read_block(block)), **find_beside(block)} for block in content]
    )
    told = message.response_metadata
    note = find_note(message)
    if note is not None:
        blocks.append(_write_text(note))
    if told.get("artifact_url") is not None:
        blocks.append(_link_whole(message, told["artifact_url"]))
    return blocks


def _write_text(text: str) -> McpBlock:
    return {"type": "text", "text": text}


def _write_origin(block: str | ContentBlock) -> McpBlock | None:
    """Write a block from another MCP server as the link or resource that it was."""
    origin = find_origin(block)
    if origin is None or origin["type"] == "resource_link":
        return origin
    part = read_block(block)
    held = {"text": part} if isinstance(part, str) else {"blob": part.data} if isinstance(part, Media) else {}
    return {**origin, "resource": {**origin["resource"], **held}}


def _write_part(part: Part) -> McpBlock:
    if isinstance(part, str):
        return _write_text(part)
    if not isinstance(part, Media):
        shown = part.get("json", part) if part.get("type") == "json" else part
        return _write_text(json.dumps(shown, ensure_ascii=False))
    if part.data is not None:
        return _embed(part, part.data)
    if part.url is not None:
        return {"type": "resource_link", "uri": part.url, "name": part.filename or part.kind, "mimeType": part.type}
    return _write_text(f"[{part.kind} {part.filename or ''}, id {part.file_id}]".replace(" ,", ","))


def _embed(part: Media, data: str) -> McpBlock:
    # A file may be audio too: LangChain's messages have no block for audio.
    kind = part.kind if part.kind in _SHOWN else part.type.partition("/")[0]
    if kind in _SHOWN:
        return {"type": kind, "data": data, "mimeType": part.type}
    uri = f"{_INLINE}{quote(part.filename or part.kind)}"
    text = _decode_text(part.type, data)
    held = {"blob": data} if text is None else {"text": text}
    return {"type": "resource", "resource": {"uri": uri, "mimeType": part.type, **held}}


def _decode_text(media_type: str, data: str) -> str | None:
    if not media_type.startswith("text/") and media_type != "application/json":
        return None
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _link_whole(message: ToolMessage, url: str) -> McpBlock:
    media_type = "text/plain" if isinstance(message.content, str) else "application/json"
    return {
        "type": "resource_link",
        "uri": make_uri(url),
        "name": f"whole answer of {message.name}",
        "description": "The whole of what was cut out of this answer.",
        "mimeType": media_type,
    }

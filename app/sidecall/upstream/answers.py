"""Turn the answer of an MCP server into what a tool of ours returns."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from sidecall.core.errors import ToolException
from sidecall.core.messages import ContentBlock
from sidecall.core.results.origin import name_origin
from sidecall.core.tool import STRUCTURE
from sidecall.upstream.link import RemoteAnswer

# What the program gets of links: the model reads their names and addresses.
_LINKS = "resource_links"

Wire = Mapping[str, Any]


def read_remote_answer(answer: RemoteAnswer) -> tuple[Any, dict[str, Any] | None]:
    """Return the content and the artifact of an answer.

    Raises:
        ToolException: The call has failed; the model reads the server's words.
    """
    blocks = [_write_block(block) for block in answer.blocks]
    if answer.is_error:
        raise ToolException(_join_texts(blocks) or "Error: the call failed, and its server does not say why.")
    artifact: dict[str, Any] = {STRUCTURE: answer.value} if answer.has_value else {}
    links = [dict(block) for block in answer.blocks if block.get("type") == "resource_link"]
    if links:
        artifact[_LINKS] = links
    content: Any = blocks
    if not blocks and answer.has_value:
        content = answer.value
    elif len(blocks) < 2 and all(block.keys() == {"type", "text"} for block in blocks):
        content = _join_texts(blocks)
    return content, artifact or None


def _join_texts(blocks: Iterable[ContentBlock]) -> str:
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _write_block(block: Wire) -> ContentBlock:
    kind = block.get("type")
    if kind == "text":
        return _write_text(block["text"])
    if kind in ("image", "audio"):
        return _write_media(block["mimeType"], block["data"])
    if kind == "resource_link":
        return {**_write_text(_describe_link(block)), **name_origin(block)}
    if kind == "resource":
        return _write_resource(block["resource"])
    return _write_text(f"[a block of the type {kind}]")


def _write_text(text: str) -> ContentBlock:
    return {"type": "text", "text": text}


def _write_media(media_type: str, data: str, filename: str | None = None) -> ContentBlock:
    # LangChain's messages have a block for images and files, and for audio only within a file.
    kind = "image" if media_type.startswith("image/") else "file"
    named = {"filename": filename} if filename else {}
    return {"type": kind, "base64": data, "mime_type": media_type, **named}


def _describe_link(link: Wire) -> str:
    said = link.get("description") or ""
    return f"[resource {link.get('title') or link.get('name')}: {link.get('uri')}]{' ' if said else ''}{said}"


def _write_resource(resource: Wire) -> ContentBlock:
    # What it holds stands in the block itself.
    named = {key: value for key, value in resource.items() if key not in ("text", "blob")}
    origin = name_origin({"type": "resource", "resource": named})
    if "text" in resource:
        return {**_write_text(resource["text"]), **origin}
    name = urlsplit(str(resource.get("uri", ""))).path.rpartition("/")[2]
    return {**_write_media(resource.get("mimeType") or "application/octet-stream", resource["blob"], name), **origin}

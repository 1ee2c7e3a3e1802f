"""Convert the answer of an MCP server to a tool's result."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from sidecall.features.mcp_client.link import RemoteAnswer
from sidecall.kernel.core.block_origin import name_origin
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.messages import ContentBlock, ToolMessage
from sidecall.kernel.core.result_values import ValuedBlocks, ValuedText
from sidecall.kernel.json_data.to_json import to_text

# The program gets these values; the model reads links' names and addresses, and values as text.
_VALUE = "structured_content"
_LINKS = "resource_links"

Wire = Mapping[str, Any]


def read_remote_answer(answer: RemoteAnswer) -> tuple[Any, Any]:
    """Return the content and artifact of an answer; for a failure with more than text, a message.

    Raises:
        ToolException: The call failed; the model reads the server's text.
    """
    blocks = [_write_block(block) for block in answer.blocks]
    content, artifact = _make_content(blocks, answer), _make_artifact(answer)
    if not answer.is_error:
        return content, artifact
    if artifact is None and (not blocks or isinstance(content, str)):
        raise ToolException(content or "Error: the call failed, and its server does not say why.")
    # Without validation, which would turn blocks into a plain list and lose the value.
    failed = ToolMessage.model_construct(content=content, tool_call_id="", status="error", artifact=artifact)
    return failed, artifact


def _make_content(blocks: list[ContentBlock], answer: RemoteAnswer) -> Any:
    """Make what the model reads, with the value that programs get in its place."""
    if not blocks and answer.has_value:
        return ValuedText(to_text(answer.value), answer.value)
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        text = _join_texts(blocks)
        return ValuedText(text, answer.value) if answer.has_value else text
    return ValuedBlocks(blocks, answer.value) if answer.has_value else blocks


def _make_artifact(answer: RemoteAnswer) -> Any:
    """Make the artifact: another Sidecall's as it is; of other servers structured values and links."""
    if answer.artifact is not None:
        return answer.artifact
    links = [dict(block) for block in answer.blocks if block.get("type") == "resource_link"]
    artifact: dict[str, Any] = {_VALUE: answer.value} if answer.has_value else {}
    return {**artifact, _LINKS: links} if links else artifact or None


def _join_texts(blocks: Iterable[ContentBlock]) -> str:
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _write_block(block: Wire) -> ContentBlock:
    kind = block.get("type")
    if kind == "text":
        return {**_write_text(block["text"]), **_read_extras(block, "text")}
    if kind in ("image", "audio"):
        return {**_write_media(block["mimeType"], block["data"]), **_read_extras(block, "data", "mimeType")}
    if kind == "resource_link":
        return {**_write_text(_describe_link(block)), **name_origin(block)}
    if kind == "resource":
        return _write_resource(block)
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


def _read_extras(block: Wire, *written: str) -> dict[str, Any]:
    """Return the fields of a block besides its content, such as annotations; most have none."""
    beside = {key: value for key, value in block.items() if key not in written}
    return name_origin(beside) if len(beside) > 1 else {}


def _write_resource(block: Wire) -> ContentBlock:
    # The content block already has its text or data.
    resource: Wire = block["resource"]
    named = {key: value for key, value in resource.items() if key not in ("text", "blob")}
    origin = name_origin({**block, "resource": named})
    if "text" in resource:
        return {**_write_text(resource["text"]), **origin}
    name = urlsplit(str(resource.get("uri", ""))).path.rpartition("/")[2]
    return {**_write_media(resource.get("mimeType") or "application/octet-stream", resource["blob"], name), **origin}

"""Write a ToolMessage in the form of each provider's API."""

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from sidecall.kernel.core.content_blocks import Media, Part, read_block
from sidecall.kernel.core.messages import Content, ToolMessage, find_note
from sidecall.kernel.core.native_results import ITEM, OWN_SEARCHES

_IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_PDF = "application/pdf"


def write_langchain(message: ToolMessage) -> BaseModel:
    """Return it unchanged."""
    return message


def _read_content(message: ToolMessage) -> Content:
    """Return the content for the model, with the server's notes."""
    note = find_note(message)
    if note is None:
        return message.content
    if isinstance(message.content, str):
        return f"{message.content}\n{note}"
    return [*message.content, {"type": "text", "text": note}]


# The type of an item that is a call in the older form, which has no id.
FUNCTION_MESSAGE = "function_message"


def write_openai(message: ToolMessage, url: str | None = None) -> dict[str, Any]:
    """Write a message of the Chat Completions API, which takes only text from tools; `url` leads to the rest."""
    content = _write_parts(_read_content(message), lambda part: {"type": "text", "text": _say(part, url)})
    item = message.additional_kwargs.get(ITEM)
    if isinstance(item, dict) and item.get("type") == FUNCTION_MESSAGE:
        text = content if isinstance(content, str) else "\n".join(part["text"] for part in content)
        return {"role": "function", "name": message.name, "content": text}
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}


def write_responses(message: ToolMessage) -> dict[str, Any]:
    """Write an item of the Responses API."""
    output = _write_parts(_read_content(message), _write_responses_part)
    return {"type": "function_call_output", "call_id": message.tool_call_id, "output": output}


def _write_responses_part(part: Part) -> dict[str, Any]:
    if not isinstance(part, Media) or part.kind in ("audio", "video"):
        return {"type": "input_text", "text": _say(part)}
    if part.kind == "image":
        said = {"image_url": part.address, "file_id": part.file_id, "detail": part.detail}
        return {"type": "input_image", **_without_none(said)}
    data = None if part.data is None else part.address
    # OpenAI tells from its name what a file is.
    name = part.filename or (None if data is None else f"file.{part.type.rpartition('/')[2]}")
    said = {"file_data": data, "file_url": part.url, "file_id": part.file_id, "filename": name, "detail": part.detail}
    return {"type": "input_file", **_without_none(said)}


def _list_found(message: ToolMessage, key: Literal["names", "tools"]) -> list[Any]:
    """Return the results of our own tool search, if the message is one."""
    if message.name not in _SEARCHES or not isinstance(message.artifact, dict):
        return []
    found: list[Any] = message.artifact.get(key, [])
    return found


_SEARCHES = frozenset(OWN_SEARCHES.values())


def word(message: ToolMessage) -> str:
    """Convert all that the model reads to text."""
    content = _read_content(message)
    return content if isinstance(content, str) else "\n".join(_say(read_block(block)) for block in content)


def find_media(message: ToolMessage) -> list[Media]:
    """List the images and files in the content for the model."""
    content = [] if isinstance(message.content, str) else message.content
    return [part for block in content if isinstance(part := read_block(block), Media)]


def write_anthropic(message: ToolMessage) -> dict[str, Any]:
    """Write a block of the Messages API."""
    content: Any = _read_content(message)
    if names := _list_found(message, "names"):
        content = [{"type": "tool_reference", "tool_name": name} for name in names]
    if not isinstance(content, str):
        blocks = [_write_anthropic_block(block) for block in content]
        content = [block for block in blocks if block.get("text") != ""]  # which it refuses
    return {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id,
        "content": content,
        "is_error": message.status == "error",
    }


def _write_anthropic_block(block: Any) -> dict[str, Any]:
    if _is_anthropic(block):
        own: dict[str, Any] = block
        return own
    part = read_block(block)
    source = _find_source(part) if isinstance(part, Media) else None
    if source is None:
        return {"type": "text", "text": _say(part)}
    assert isinstance(part, Media)
    if part.kind == "image":
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, **_without_none({"title": part.filename})}


def _is_anthropic(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    is_medium = kind in ("image", "document") and isinstance(block.get("source"), dict)
    return (is_medium and "source_type" not in block) or kind in ("search_result", "tool_reference")


def _find_source(part: Media) -> dict[str, Any] | None:
    """Return Anthropic's source of an image or document; None if it has none."""
    if part.file_id is not None and part.data is part.url is None:
        return {"type": "file", "file_id": part.file_id} if part.kind in ("image", "file") else None
    if part.kind == "image":
        if part.data is None:
            return {"type": "url", "url": part.url}
        return {"type": "base64", "media_type": part.type, "data": part.data} if part.type in _IMAGES else None
    if part.kind != "file":
        return None
    if part.data is None:
        return {"type": "url", "url": part.url}
    if part.type == _PDF:
        return {"type": "base64", "media_type": _PDF, "data": part.data}
    text = _decode_text(part)
    return None if text is None else {"type": "text", "media_type": "text/plain", "data": text}


def write_gemini(message: ToolMessage) -> dict[str, Any]:
    """Write a part of Gemini's API, with images and files in `parts`."""
    content = _read_content(message)
    parts = [content] if isinstance(content, str) else [read_block(block) for block in content]
    media = [part for part in parts if isinstance(part, Media) and part.file_id is None]
    texts = [_say(part) for part in parts if part not in media]
    said = texts[0] if len(texts) == 1 else "\n".join(texts)
    answer: dict[str, Any] = {
        "id": message.tool_call_id,
        "name": message.name,
        "response": {"error" if message.status == "error" else "output": said},
    }
    if media:
        answer["parts"] = [_write_gemini_part(part) for part in media]
    return {"functionResponse": answer}


def _write_gemini_part(part: Media) -> dict[str, Any]:
    name = _without_none({"displayName": part.filename})
    if part.data is not None:
        return {"inlineData": {"mimeType": part.type, "data": part.data, **name}}
    return {"fileData": {"mimeType": part.type, "fileUri": part.url, **name}}


def _write_parts(content: Content, write: Callable[[Part], dict[str, Any]]) -> str | list[dict[str, Any]]:
    # Providers refuse an empty list.
    return content if isinstance(content, str) else [write(read_block(block)) for block in content] or "[]"


def _say(part: Part, url: str | None = None) -> str:
    """Describe in words a part that a model cannot be shown."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Media):
        return json.dumps(part.get("json", part) if part.get("type") == "json" else part, ensure_ascii=False)
    return f"[{', '.join(_describe(part, url))}]"


def _describe(part: Media, url: str | None) -> Iterator[str]:
    yield f"{part.kind} {part.filename}" if part.filename else part.kind
    if part.data is not None:
        yield part.type
        yield f"{len(part.data.rstrip('=')) * 3 // 4} bytes"
        yield f"to be found at {url}" if url else "not shown"
    else:
        yield part.url or f"id {part.file_id}"


def _decode_text(part: Media) -> str | None:
    if not part.type.startswith("text/") and part.type != "application/json":
        return None
    try:
        return base64.b64decode(part.data or "", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _without_none(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if value is not None}


# Those of messages that repeat no item of their call, by dialect.
WRITERS: Mapping[str, Callable[[ToolMessage], BaseModel | dict[str, Any]]] = {
    "langchain": write_langchain,
    "openai": write_openai,
    "openai-responses": write_responses,
    "anthropic": write_anthropic,
    "gemini": write_gemini,
}

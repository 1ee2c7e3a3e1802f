"""Views of a LangChain message: its text, its typed blocks, and a readable form."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Types of blocks that are LangChain's own.
_BLOCKS = frozenset(
    "text reasoning refusal tool_call invalid_tool_call tool_call_chunk image audio file text-plain video"
    " server_tool_call server_tool_call_chunk server_tool_result non_standard".split()
)
_WIDTH = 80


class MessageText(str):
    """A text that can be called, as in older LangChain files: `message.text()`."""

    __slots__ = ()

    def __call__(self) -> str:
        """Return the text."""
        return str(self)


def find_text(content: Any) -> MessageText:
    """Join the texts of a content."""
    if isinstance(content, str):
        return MessageText(content)
    parts = (part if isinstance(part, str) else part.get("text") for part in content if _is_text(part))
    return MessageText("".join(part for part in parts if isinstance(part, str)))


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and part.get("type") == "text")


def list_blocks(content: Any, calls: Sequence[Mapping[str, Any]] = ()) -> list[Any]:
    """List a message's content as LangChain's typed blocks.

    Images and audio in the forms of OpenAI and Anthropic are converted; other provider blocks become "non_standard".

    Args:
        content: The content of the message.
        calls: The tool calls of the message, which come last unless they stand in the content.
    """
    parts = [content] if isinstance(content, str) and content else list(content)
    named = {part.get("id") for part in parts if isinstance(part, dict) and part.get("type") == "tool_call"}
    added = [it for it in calls if it.get("id") and it["id"] not in named]
    asked = [{"name": it["name"], "args": it["args"], "id": it["id"], "type": "tool_call"} for it in added]
    return [*map(_read_block, parts), *asked]


def _read_block(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if part.keys() == {"text"}:
        return {"type": "text", **part}
    kind = part.get("type")
    source = part.get("source")
    if kind == "image" and isinstance(source, dict):
        return _read_source(source) or {"type": "non_standard", "value": part}
    inner = part.get(kind) if isinstance(kind, str) else None
    if kind == "file" and isinstance(inner, dict) and "file_id" in inner:
        return {"type": "file", "file_id": inner["file_id"]}
    if kind in _BLOCKS and "source_type" not in part:
        return dict(part)
    if kind == "image_url" and isinstance(inner, dict) and isinstance(inner.get("url"), str):
        return _read_image(inner)
    if kind == "input_audio" and isinstance(inner, dict) and "data" in inner:
        return {"type": "audio", "base64": inner["data"], "mime_type": f"audio/{inner.get('format')}"}
    return {"type": "non_standard", "value": part}


def _read_source(source: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read an image in Anthropic's form."""
    if source.get("type") == "base64":
        return {"type": "image", "base64": source.get("data"), "mime_type": source.get("media_type")}
    return {"type": "image", "url": source["url"]} if source.get("type") == "url" and "url" in source else None


def _read_image(image: Mapping[str, Any]) -> dict[str, Any]:
    """Read an image in OpenAI's form."""
    more = {name: it for name, it in image.items() if name != "url"}
    extras = {"extras": more} if more else {}
    head, found, data = image["url"].partition(";base64,")
    if found and head.startswith("data:"):
        return {"type": "image", "base64": data, "mime_type": head.removeprefix("data:"), **extras}
    return {"type": "image", "url": image["url"], **extras}


def write_title(kind: str, *, bold: bool) -> str:
    """Format the title line of a message."""
    title = f" {kind.title()} Message "
    shown = f"\33[1m{title}\33[0m" if bold else title
    left = (_WIDTH - len(title)) // 2
    return f"{'=' * left}{shown}{'=' * (left + len(title) % 2)}"


def write_calls(title: str, calls: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Format tool calls as lines; none if there are none."""
    if calls:
        yield title
    for call in calls:
        yield f"  {call.get('name', 'Tool')} ({call.get('id')})"
        yield f" Call ID: {call.get('id')}"
        if call.get("error"):
            yield f"  Error: {call['error']}"
        yield "  Args:"
        args = call.get("args")
        if isinstance(args, str):
            yield f"    {args}"
        yield from (f"    {name}: {value}" for name, value in (args.items() if isinstance(args, dict) else ()))

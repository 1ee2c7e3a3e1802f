"""Read what tools of frameworks return: media of their classes, artifacts, and changes of the caller's state."""

import base64
import copy
import io
from collections.abc import Callable, Mapping
from typing import Any

from sidecall.kernel.core.command import Command
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.messages import ContentBlock, ToolMessage
from sidecall.kernel.json_data.to_json import to_text

_Read = Callable[[Any], ContentBlock]


def write_text(text: str) -> ContentBlock:
    """Write a text block."""
    return {"type": "text", "text": text}


def write_media(kind: str, data: bytes | str | None, url: str | None, mime_type: str | None) -> ContentBlock:
    """Write an image, audio, video or file block; `data` are bytes, or base64."""
    if data is None:
        return {"type": kind, "url": str(url)} | ({} if mime_type is None else {"mime_type": mime_type})
    text = base64.b64encode(data).decode() if isinstance(data, bytes) else data
    return {"type": kind, "base64": text, "mime_type": mime_type or _USUAL.get(kind, "application/octet-stream")}


_USUAL = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}


def _read_picture(it: Any) -> ContentBlock:
    if hasattr(it, "to_raw"):  # smolagents
        it = it.to_raw()
    held = io.BytesIO()
    it.save(held, format="PNG")
    return write_media("image", held.getvalue(), None, "image/png")


def _read_content(it: Any) -> ContentBlock:
    """Read a Content of Agent Framework."""
    if it.type not in ("data", "uri"):
        text = it.text if isinstance(getattr(it, "text", None), str) else to_text(it.to_dict())
        return write_text(text)
    kind = (it.media_type or "").partition("/")[0]
    name = kind if kind in ("image", "audio", "video") else "file"
    head, is_data, data = str(it.uri).partition(";base64,")
    if is_data and head.startswith("data:"):
        return write_media(name, data, None, it.media_type or head.removeprefix("data:"))
    return write_media(name, None, it.uri, it.media_type)


def _read_llama_image(it: Any) -> ContentBlock:
    if it.url is not None:
        return write_media("image", None, str(it.url), it.image_mimetype)
    return write_media("image", base64.b64encode(it.resolve_image().read()).decode(), None, it.image_mimetype)


def _read_agno(kind: str) -> _Read:
    def read(it: Any) -> ContentBlock:
        data = it.content if it.url is None else None
        if data is None and it.url is None:
            data = it.get_content_bytes()
        return write_media(kind, data, it.url, it.mime_type)

    return read


def _read_kernel_image(it: Any) -> ContentBlock:
    address = it.data_uri or None
    if address is not None:
        head, _, data = str(address).partition(";base64,")
        return write_media("image", data, None, head.removeprefix("data:"))
    return write_media("image", None, str(it.uri), it.mime_type)


# By package and class: the parts of an answer that are no plain values.
_PARTS: Mapping[tuple[str, str], _Read] = {
    ("PIL", "Image"): _read_picture,
    ("agent_framework", "Content"): _read_content,
    ("agno", "Audio"): _read_agno("audio"),
    ("agno", "Image"): _read_agno("image"),
    ("agno", "Video"): _read_agno("video"),
    ("autogen_core", "Image"): lambda it: write_media("image", it.to_base64(), None, "image/png"),
    ("autogen_core", "ImageResultContent"): lambda it: write_media("image", it.content.to_base64(), None, "image/png"),
    ("autogen_core", "TextResultContent"): lambda it: write_text(it.content),
    ("dspy", "Image"): lambda it: write_address("image", it.url),
    ("haystack", "ImageContent"): lambda it: write_media("image", it.base64_image, None, it.mime_type),
    ("haystack", "TextContent"): lambda it: write_text(it.text),
    ("llama_index", "ImageBlock"): _read_llama_image,
    ("llama_index", "TextBlock"): lambda it: write_text(it.text),
    ("semantic_kernel", "ImageContent"): _read_kernel_image,
    ("semantic_kernel", "TextContent"): lambda it: write_text(it.text),
}


def write_address(kind: str, address: str) -> ContentBlock:
    """Write a block of a URL, which may be a `data:` URL."""
    head, is_data, data = address.partition(";base64,")
    if is_data and head.startswith("data:"):
        return write_media(kind, data, None, head.removeprefix("data:"))
    return write_media(kind, None, address, None)


def read_value(value: Any) -> Any:
    """Return what a tool has returned, with media of its framework as blocks.

    One medium, or a list with any, becomes blocks; other items of the list become texts. A single text is a text.
    """
    items = list(value) if isinstance(value, list | tuple) else [value]
    readers = [_find_reader(it) for it in items]
    if not any(readers):
        return value
    blocks = [_write_plain(it) if read is None else read(it) for it, read in zip(items, readers, strict=True)]
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks


def _find_reader(item: Any) -> _Read | None:
    names = ((base.__module__.partition(".")[0], base.__name__) for base in type(item).__mro__)
    return next((_PARTS[name] for name in names if name in _PARTS), None)


def _write_plain(item: Any) -> ContentBlock:
    return write_text(item if isinstance(item, str) else to_text(item))


def with_artifact(content: Any, artifact: Any) -> Any:
    """Return content together with what only the program gets, where JSON can say that."""
    if artifact is None:
        return content
    try:
        to_text(artifact)
    except ValueError:
        return content
    return ToolMessage(content=content, artifact=artifact)


class CallState:
    """A copy of the caller's state for one call: what the tool changes in it goes back as an update."""

    def __init__(self, context: ToolContext) -> None:
        """Copy the state that the caller has sent, if it is an object."""
        sent = context.state if isinstance(context.state, Mapping) else {}
        self._before = {str(key): value for key, value in sent.items()}
        self.values: dict[str, Any] = copy.deepcopy(self._before)

    def add_update(self, content: Any, after: Mapping[str, Any] | None = None) -> Any:
        """Return content with what has changed, if anything has; `after` is the new state."""
        now = self.values if after is None else after
        update = {key: value for key, value in now.items() if key not in self._before or self._before[key] != value}
        if not update:
            return content
        message = content if isinstance(content, ToolMessage) else ToolMessage(content=content)
        return Command(update={**update, "messages": [message]})

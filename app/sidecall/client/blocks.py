"""The content blocks of an answer, for SDKs with their own block types."""

import json
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_KINDS: Mapping[str, str] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "audio": "audio",
    "video": "video",
}
_ASSUMED: Mapping[str, str] = {"image": "image/png", "audio": "audio/mpeg", "video": "video/mp4"}


@dataclass(frozen=True)
class MediaBlock:
    """An image, file, sound or video: by its URL, its data in base64, or the id of an uploaded file."""

    kind: str
    type: str
    url: str | None = None
    data: str | None = None
    file_id: str | None = None
    filename: str | None = None

    @property
    def words(self) -> str:
        """What stands in a text in the place of the media."""
        return f"[{self.kind}: {self.url or self.type}]"

    @property
    def address(self) -> str | None:
        """The URL of the media; it may be a data URL."""
        return self.url if self.data is None else f"data:{self.type};base64,{self.data}"


def read_blocks(content: Any) -> list[str | MediaBlock]:
    """Read the content for the model: texts, and media in the forms of LangChain and of the providers.

    Unknown blocks become JSON text.
    """
    return [_read_block(block) for block in (content if isinstance(content, list) else [content])]


def _read_block(block: Any) -> str | MediaBlock:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping):
        if isinstance(text := block.get("text"), str):
            return text
        if (medium := _read_medium(block)) is not None:
            return medium
    return json.dumps(block, ensure_ascii=False)


def _read_medium(block: Mapping[str, Any]) -> MediaBlock | None:
    kind = _KINDS.get(str(block.get("type")))
    places = [
        block,
        *(inner for key in ("source", "file", "image_url", "extras") if isinstance(inner := block.get(key), Mapping)),
    ]

    def find(*keys: str) -> str | None:
        found = (place.get(key) for place in places for key in keys)
        return next((value for value in found if isinstance(value, str) and value), None)

    url, data = find("url", "image_url", "file_url"), find("base64", "data", "file_data")
    mime_type, file_id = find("mime_type", "media_type"), find("file_id")
    if kind is None or not (url or data or file_id):
        return None
    for text in (url, data):
        if text is not None and text.startswith("data:"):
            head, _, data = text.partition(",")
            url, mime_type = None, head.removeprefix("data:").partition(";")[0]
    guessed = mimetypes.guess_type(url or "")[0]
    type_ = mime_type or guessed or _ASSUMED.get(kind, "application/octet-stream")
    return MediaBlock(kind, type_, url, data, file_id, find("filename", "title"))

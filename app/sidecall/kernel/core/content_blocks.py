"""Read content blocks in the forms of all libraries that tools use."""

from collections.abc import Callable, Mapping
from functools import cache
from mimetypes import MimeTypes
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from sidecall.kernel.core.messages import Content, ContentBlock

MediaKind = Literal["image", "file", "audio", "video"]

_USUAL: Mapping[MediaKind, str] = {
    "image": "image/png",
    "file": "application/octet-stream",
    "audio": "audio/wav",
    "video": "video/mp4",
}


class Media(Struct, frozen=True, kw_only=True):
    """An image or file in an answer: where it is (`url`, `file_id`), or its content (`data`, base64)."""

    kind: MediaKind
    url: str | None = None
    data: str | None = None
    file_id: str | None = None
    mime_type: str | None = None
    filename: str | None = None
    detail: str | None = None

    @property
    def type(self) -> str:
        """The media type: as given, else by the file's name, else the default for its kind."""
        return self.mime_type or _guess_type(self.filename) or _guess_type(self.url) or _USUAL[self.kind]

    @property
    def address(self) -> str | None:
        """A URL that leads to the content or holds it; None where a provider keeps it under an id."""
        return self.url if self.data is None else f"data:{self.type};base64,{self.data}"


@cache
def _types_by_name() -> MimeTypes:
    """Return the media types that Python itself knows, the same on every machine; built once, since it is slow."""
    return MimeTypes()


def _guess_type(name: str | None) -> str | None:
    try:
        return _types_by_name().guess_type(urlsplit(name or "").path)[0]
    except ValueError:  # It is no URL.
        return None


# A text, a medium, or a block that is neither.
Part = str | Media | ContentBlock


def read_block(block: str | ContentBlock) -> Part:
    """Return the text or medium of a block, or the block itself if it is neither."""
    if isinstance(block, str):
        return block
    kind = block.get("type", "")
    if kind in _TEXTS:
        text = block.get("text", "")
        return text if isinstance(text, str) else block
    medium = _read_medium(_KINDS[kind], block) if kind in _KINDS else None
    return block if medium is None else medium


def holds_media(content: Content) -> bool:
    """Return whether any block is not text and a provider may have a form for it."""
    return not isinstance(content, str) and any(isinstance(read_block(block), Media) for block in content)


_TEXTS = frozenset(("text", "input_text"))
_KINDS: Mapping[str, MediaKind] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "audio": "audio",
    "video": "video",
}


def _read_medium(kind: MediaKind, block: ContentBlock) -> Media | None:
    """Read a block in the forms of LangChain (both versions), OpenAI's two APIs, the Agents SDK and Anthropic."""
    inner = block.get("source") or block.get("file") or block
    if not isinstance(inner, Mapping):
        return None
    find = _finder(inner, block)
    nested = inner.get("image_url")
    if isinstance(nested, Mapping):  # as in Chat Completions
        find = _finder(nested, inner)
    url, data = find("url", "image_url", "file_url"), find("base64", "data", "file_data")
    mime_type = find("mime_type", "media_type")
    for text in (url, data):
        if text is not None and text.startswith("data:"):
            url = None
            mime_type, data = _split_data_url(text)
    file_id = find("file_id") or (find("id") if block.get("source_type") == "id" else None)
    if not (url or data or file_id):
        return None
    filename = find("filename", "title") or _finder(block.get("extras") or {})("filename")
    return Media(
        kind=kind,
        url=url,
        data=data,
        file_id=file_id,
        mime_type=mime_type,
        filename=filename,
        detail=find("detail") or _finder(block.get("extras") or {})("detail"),
    )


def _finder(*places: Mapping[str, Any]) -> Callable[..., str | None]:
    """Return a function that finds the first text under one of several keys."""

    def find(*names: str) -> str | None:
        found = (place.get(name) for place in places for name in names)
        return next((text for text in found if isinstance(text, str) and text), None)

    return find


def _split_data_url(address: str) -> tuple[str | None, str]:
    """Split a `data:` URL into media type and base64."""
    head, _, data = address.removeprefix("data:").partition(",")
    return head.partition(";")[0] or None, data

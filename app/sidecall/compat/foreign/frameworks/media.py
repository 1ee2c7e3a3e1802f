"""Read media of frameworks' classes: images, sounds, videos and files become blocks."""

import base64
import io
from collections.abc import Callable, Mapping
from typing import Any

from sidecall.kernel.core.messages import ContentBlock
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


def write_address(kind: str, address: str) -> ContentBlock:
    """Write a block of a URL, which may be a `data:` URL."""
    head, is_data, data = address.partition(";base64,")
    if is_data and head.startswith("data:"):
        return write_media(kind, data, None, head.removeprefix("data:"))
    return write_media(kind, None, address, None)


_OF_PNG = frozenset(("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA"))


def _read_picture(it: Any) -> ContentBlock:
    if hasattr(it, "to_raw"):  # smolagents
        it = it.to_raw()
    held = io.BytesIO()
    (it if it.mode in _OF_PNG else it.convert("RGB")).save(held, format="PNG")
    return write_media("image", held.getvalue(), None, "image/png")


def _read_content(it: Any) -> ContentBlock:
    """Read a Content of Agent Framework."""
    if it.type not in ("data", "uri"):
        text = it.text if isinstance(getattr(it, "text", None), str) else to_text(it.to_dict())
        return write_text(text)
    name = _find_kind(it.media_type)
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


def _read_llama(kind: str) -> _Read:
    """Return what reads a sound, a video or a document of LlamaIndex."""
    method = f"resolve_{'document' if kind == 'file' else kind}"

    def read(it: Any) -> ContentBlock:
        form = getattr(it, "format", None)
        said = getattr(it, f"{'document' if kind == 'file' else kind}_mimetype", None)
        mime_type = f"{kind}/{form}" if said is None and form is not None else said
        if it.url is not None:
            made = write_media(kind, None, str(it.url), mime_type)
        else:
            made = write_media(kind, base64.b64encode(getattr(it, method)().read()).decode(), None, mime_type)
        return _name(made, getattr(it, "title", None))

    return read


def _name(block: ContentBlock, filename: str | None) -> ContentBlock:
    return block if filename is None else block | {"filename": filename}


def _read_kernel(kind: str) -> _Read:
    """Return what reads binary content of Semantic Kernel, whose `data_uri` fails for bytes that are no text."""

    def read(it: Any) -> ContentBlock:
        if it.data:
            return write_media(kind, it.data, None, it.mime_type)
        return write_media(kind, None, str(it.uri), it.mime_type)

    return read


def _read_agno_file(it: Any) -> ContentBlock:
    data = it.content if it.url is None else None
    data = data.encode() if isinstance(data, str) else data
    if data is None and it.url is None:
        data = it.get_content_bytes()
    return _name(write_media("file", data, it.url, it.mime_type), it.filename)


def _read_dspy_file(it: Any) -> ContentBlock:
    if it.file_data is None:
        return write_text(f"[file: {it.file_id}]")
    return _name(write_address("file", it.file_data), it.filename)


def _read_blob(it: Any) -> ContentBlock:
    """Read bytes of Google's classes."""
    return _name(write_media(_find_kind(it.mime_type), it.data, None, it.mime_type), it.display_name)


def _read_part(it: Any) -> ContentBlock:
    """Read a Part of Google's; one that is no medium is its text, or JSON."""
    if it.inline_data is not None:
        return _read_blob(it.inline_data)
    if it.file_data is not None:
        kind, at = _find_kind(it.file_data.mime_type), it.file_data.file_uri
        return _name(write_media(kind, None, at, it.file_data.mime_type), it.file_data.display_name)
    return write_text(it.text if it.text is not None else to_text(it.model_dump(mode="json", exclude_none=True)))


def _find_kind(mime_type: str | None) -> str:
    kind = (mime_type or "").partition("/")[0]
    return kind if kind in ("image", "audio", "video") else "file"


# By package and class: the parts of an answer that are no plain values.
_PARTS: Mapping[tuple[str, str], _Read] = {
    ("PIL", "Image"): _read_picture,
    ("agent_framework", "Content"): _read_content,
    ("agno", "Audio"): _read_agno("audio"),
    ("agno", "File"): _read_agno_file,
    ("agno", "Image"): _read_agno("image"),
    ("agno", "Video"): _read_agno("video"),
    ("autogen_core", "Image"): lambda it: write_media("image", it.to_base64(), None, "image/png"),
    ("autogen_core", "ImageResultContent"): lambda it: write_media("image", it.content.to_base64(), None, "image/png"),
    ("autogen_core", "TextResultContent"): lambda it: write_text(it.content),
    ("dspy", "Audio"): lambda it: write_media("audio", it.data, None, f"audio/{it.audio_format}"),
    ("dspy", "File"): _read_dspy_file,
    ("dspy", "Image"): lambda it: write_address("image", it.url),
    ("google", "Blob"): _read_blob,
    ("google", "Image"): lambda it: write_media("image", it.image_bytes, it.gcs_uri, it.mime_type),
    ("google", "Part"): _read_part,
    ("google", "Video"): lambda it: write_media("video", it.video_bytes, it.uri, it.mime_type),
    ("haystack", "FileContent"): lambda it: _name(write_media("file", it.base64_data, None, it.mime_type), it.filename),
    ("haystack", "ImageContent"): lambda it: write_media("image", it.base64_image, None, it.mime_type),
    ("haystack", "TextContent"): lambda it: write_text(it.text),
    ("llama_index", "AudioBlock"): _read_llama("audio"),
    ("llama_index", "DocumentBlock"): _read_llama("file"),
    ("llama_index", "ImageBlock"): _read_llama_image,
    ("llama_index", "TextBlock"): lambda it: write_text(it.text),
    ("llama_index", "VideoBlock"): _read_llama("video"),
    ("semantic_kernel", "AudioContent"): _read_kernel("audio"),
    ("semantic_kernel", "BinaryContent"): _read_kernel("file"),
    ("semantic_kernel", "FileReferenceContent"): lambda it: write_text(f"[file: {it.file_id}]"),
    ("semantic_kernel", "ImageContent"): _read_kernel("image"),
    ("semantic_kernel", "TextContent"): lambda it: write_text(it.text),
}


def find_medium_reader(item: Any) -> Callable[[Any], ContentBlock] | None:
    """Return what reads a medium, by the nearest class that is known; None for other values."""
    names = ((base.__module__.partition(".")[0], base.__name__) for base in type(item).__mro__)
    return next((_PARTS[name] for name in names if name in _PARTS), None)

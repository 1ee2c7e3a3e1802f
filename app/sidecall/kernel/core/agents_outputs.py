"""Texts, images and files as results, with the names of the OpenAI Agents SDK."""

import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, model_validator
from typing_extensions import TypedDict

from sidecall.kernel.core.content_blocks import Media, read_block
from sidecall.kernel.core.messages import ContentBlock


class ToolOutputText(BaseModel, defer_build=True):
    """A text."""

    type: Literal["text"] = "text"
    text: str


class ToolOutputImage(BaseModel, defer_build=True):
    """An image: by its URL, which may be a `data:` URL, or by the id under which the provider has it."""

    type: Literal["image"] = "image"
    image_url: str | None = None
    file_id: str | None = None
    detail: Literal["low", "high", "auto"] | None = None

    @model_validator(mode="after")
    def _require_source(self) -> Self:
        if self.image_url is None and self.file_id is None:
            raise ValueError("At least one of image_url or file_id must be provided")
        return self


class ToolOutputFileContent(BaseModel, defer_build=True):
    """A file: its content in base64, its URL, or the id under which the provider has it."""

    type: Literal["file"] = "file"
    file_data: str | None = None
    file_url: str | None = None
    file_id: str | None = None
    filename: str | None = None

    @model_validator(mode="after")
    def _require_source(self) -> Self:
        if self.file_data is None and self.file_url is None and self.file_id is None:
            raise ValueError("At least one of file_data, file_url, or file_id must be provided")
        return self


class ToolOutputTextDict(TypedDict, total=False):
    """A ToolOutputText as a dict."""

    type: Literal["text"]
    text: str


class ToolOutputImageDict(TypedDict, total=False):
    """A ToolOutputImage as a dict."""

    type: Literal["image"]
    image_url: str
    file_id: str
    detail: Literal["low", "high", "auto"]


class ToolOutputFileContentDict(TypedDict, total=False):
    """A ToolOutputFileContent as a dict."""

    type: Literal["file"]
    file_data: str
    file_url: str
    file_id: str
    filename: str


_KINDS: Mapping[str, type[BaseModel]] = {
    "text": ToolOutputText,
    "image": ToolOutputImage,
    "file": ToolOutputFileContent,
}
_NAMES = frozenset(kind.__name__ for kind in _KINDS.values())
_DICTS = frozenset(kind.__name__ for kind in (ToolOutputTextDict, ToolOutputImageDict, ToolOutputFileContentDict))
_PACKAGES = ("sidecall", "agents")


def promises_content(annotation: Any) -> bool:
    """Return whether a return annotation has one of these types, alone, in a union or in a list."""
    if hasattr(annotation, "__value__"):  # an alias, `type Picture = ToolOutputImage`
        return promises_content(annotation.__value__)
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None:
        return _is_known(annotation, _NAMES | _DICTS)
    if origin is Annotated or hasattr(origin, "__value__"):
        return promises_content(annotation.__origin__)
    is_list = isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping)
    return (is_list or origin in (typing.Union, types.UnionType)) and any(map(promises_content, parts))


def _is_known(kind: Any, names: frozenset[str]) -> bool:
    return getattr(kind, "__name__", None) in names and kind.__module__.partition(".")[0] in _PACKAGES


def read_outputs(value: Any, *, with_dicts: bool = False) -> list[ContentBlock] | None:
    """Convert one of these objects, or a list of only them and their dicts, to blocks; None for anything else.

    A list with objects may also have texts.

    Args:
        value: What a tool has returned.
        with_dicts: Whether dicts alone are taken for them, as the OpenAI Agents SDK does.
    """
    if not isinstance(value, list | tuple):
        block = _write_dict(value) if with_dicts and isinstance(value, dict) else _write_object(value)
        return None if block is None else [block]
    blocks: list[ContentBlock] = []
    for item in value:
        block = _write_item(item)
        if block is None:
            return None
        blocks.append(block)
    # Elsewhere a list of dicts alone is looked at as every other list of blocks.
    alone = (str,) if with_dicts and not any(isinstance(item, str) for item in value) else (str, dict)
    return None if all(isinstance(item, alone) for item in value) else blocks


def _write_item(item: Any) -> ContentBlock | None:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    return _write_dict(item) if isinstance(item, dict) else _write_object(item)


def _write_object(item: Any) -> ContentBlock | None:
    if not _is_known(type(item), _NAMES):
        return None
    return _write_block(item.model_dump(exclude_none=True))


def _write_block(said: ContentBlock) -> ContentBlock:
    """Write an image in LangChain's form, from which all dialects are made; LangChain rejects the SDK's form."""
    medium = read_block(said) if said["type"] == "image" else None
    if not isinstance(medium, Media):
        return said
    block: ContentBlock = {"type": "image"}
    address = said.get("image_url")
    if address is None:
        block["file_id"] = medium.file_id
    elif medium.data is not None and ";base64," in address:
        block |= {"base64": medium.data, "mime_type": medium.type}
    else:
        block["url"] = address
    return block if medium.detail is None else {**block, "extras": {"detail": medium.detail}}


def _write_dict(item: dict[Any, Any]) -> ContentBlock | None:
    name = item.get("type")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        return None
    try:
        return _write_block(kind.model_validate(item).model_dump(exclude_none=True))
    except ValueError:
        return None

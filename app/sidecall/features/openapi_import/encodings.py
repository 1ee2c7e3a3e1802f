"""Read how the members of a form are written, from an Encoding Object of OpenAPI."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from sidecall.features.openapi_import.definitions import Definitions, Place, write_compact, write_scalar

# With one of these a member is written like a query parameter, and its content type is ignored.
_STYLING = ("style", "explode", "allowReserved")
_JSON = "application/json"
BYTES = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the value of a member is written: by its style, or as one of these media types.

    `headers` are those of its part that have a fixed value in the document.
    """

    style: str = "form"
    explodes: bool = True
    allows_reserved: bool = False
    is_styled: bool = False
    media_types: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def media_type(self) -> str | None:
        """The first media type that is not a pattern."""
        return next((it for it in self.media_types if "*" not in it), None)

    @property
    def is_json(self) -> bool:
        """Whether the type is JSON."""
        return _is_json(self.media_type or "")

    @property
    def is_of_bytes(self) -> bool:
        """Whether no media type allows text."""
        return bool(self.media_types) and not any(map(_may_be_text, self.media_types))

    def choose_type(self, known: str) -> str:
        """Choose the media type of a file: the known one, unless the document gives one and the caller did not."""
        if known != BYTES or any(fnmatchcase(known, it) for it in self.media_types):
            return known
        return self.media_type or known


def read_encoding(said: Any, definitions: Definitions, *, in_parts: bool) -> Encoding:
    """Read what a document says of a member of a form."""
    said = said if isinstance(said, dict) else {}
    # In OpenAPI 3.0 styles apply to url-encoded forms only.
    is_styled = any(said.get(key) is not None for key in _STYLING) and not (in_parts and definitions.is_old)
    style, explode = said.get("style"), said.get("explode")
    if not is_styled or not isinstance(style, str):
        style = "form"
    explodes = explode if is_styled and isinstance(explode, bool) else style in ("form", "deepObject")
    types = [] if is_styled or not isinstance(said.get("contentType"), str) else said["contentType"].split(",")
    return Encoding(
        style,
        explodes,
        allows_reserved=is_styled and said.get("allowReserved") is True,
        is_styled=is_styled,
        media_types=[it.strip() for it in types if it.strip()],
        headers=dict(_read_headers(said.get("headers"), definitions)) if in_parts else {},
    )


def _read_headers(headers: Any, definitions: Definitions) -> Iterator[tuple[str, str]]:
    """Yield the headers of a part that can have one value only; callers are not asked for others."""
    for name, said in headers.items() if isinstance(headers, dict) else ():
        header = definitions.resolve(said)
        schema = definitions.resolve(header.get("schema")) if isinstance(header, dict) else None
        if not isinstance(schema, dict) or name.lower() in ("content-type", "content-disposition"):
            continue
        options = schema.get("enum")
        only = options[0] if isinstance(options, list) and len(options) == 1 else schema.get("default")
        value = schema.get("const", only)
        if value is not None:
            yield name, write_scalar(value)


def _is_json(media_type: str) -> bool:
    kind = media_type.partition(";")[0].strip().lower()
    return kind == _JSON or kind.endswith("+json")


def _may_be_text(media_type: str) -> bool:
    kind = media_type.partition(";")[0].strip().lower()
    return (
        kind.startswith(("text/", "*/")) or kind.endswith(("json", "xml", "yaml", "/*+json")) or kind == "application/*"
    )


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a body: its argument, and how it is written in a form."""

    place: Place
    encoding: Encoding = field(default_factory=Encoding)
    is_file: bool = False

    def list_parts(self, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield the parts of a value in HTTPX's form: each item of a list is one, unless a style applies."""
        encoding, name = self.encoding, self.place.name
        if encoding.is_styled:
            yield from ((it, (None, text, None, encoding.headers)) for it, text in self.place.list_parts(value))
            return
        for item in value if isinstance(value, list) else [value]:
            is_json = encoding.is_json or (not encoding.media_type and isinstance(item, list | Mapping))
            text = write_compact(item) if is_json else write_scalar(item)
            yield name, (None, text, encoding.media_type or (_JSON if is_json else None), encoding.headers)

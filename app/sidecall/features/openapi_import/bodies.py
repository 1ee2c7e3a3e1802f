"""Describe and write request bodies: JSON, forms, multipart, texts and bytes."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from sidecall.features.openapi_import.definitions import Definitions, Place, Unusable, write_compact, write_scalar
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.tool import Schema

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


BodyKind = Literal["json", "form", "parts", "text", "bytes"]
# Finds contents of `/contents/…` that belong to the caller.
ReadContent = Callable[[str], Awaitable[Any]]
_CONTENTS = "/contents/"
_FILE = (
    "The bytes of a file: the address `/contents/…` of one that was sent to this server, a `data:` URL in base64, or "
    "else its text."
)


@dataclass(frozen=True, slots=True)
class BodyPlan:
    """How arguments become a body: those of `members`, or the one that is the whole body."""

    kind: BodyKind
    media_type: str
    is_required: bool
    whole: str | None = None
    members: Sequence[Member] = ()

    async def write(self, args: Mapping[str, Any], read: ReadContent) -> dict[str, Any]:
        """Return HTTPX's arguments for the body; none without one.

        Raises:
            ToolException: A file cannot be read.
        """
        if self.whole is not None:
            return await self._write_whole(args[self.whole], read) if self.whole in args else {}
        given = [(it, args[it.place.argument]) for it in self.members if it.place.argument in args]
        if not given and not self.is_required:
            return {}
        if self.kind == "parts":
            return {"files": [part for it, value in given for part in await _write_parts(it, value, read)]}
        if self.kind == "form":
            text = "&".join(pair for it, value in given for pair in it.place.write_query(value))
            return self._send(text.encode())
        return self._send(write_compact({it.place.name: value for it, value in given}).encode())

    async def _write_whole(self, value: Any, read: ReadContent) -> dict[str, Any]:
        if self.kind == "bytes":
            return self._send((await _read_file(value, read))[0])
        return self._send((value if self.kind == "text" and isinstance(value, str) else write_compact(value)).encode())

    def _send(self, content: bytes) -> dict[str, Any]:
        return {"content": content, "headers": {"Content-Type": self.media_type}}


async def _write_parts(member: Member, value: Any, read: ReadContent) -> list[tuple[str, Any]]:
    if not member.is_file:
        return list(member.list_parts(value))
    name, parts = member.place.name, []
    for item in value if isinstance(value, list) else [value]:
        body, media_type = await _read_file(item, read)
        parts.append((name, (name, body, member.encoding.choose_type(media_type), member.encoding.headers)))
    return parts


async def _read_file(value: Any, read: ReadContent) -> tuple[bytes, str]:
    """Return the bytes that a text denotes, and their media type."""
    text = write_scalar(value)
    if text.startswith(_CONTENTS):
        found = await read(text)
        return found.body, found.media_type
    if text.startswith("data:"):
        head, _, data = text.removeprefix("data:").partition(",")
        try:
            return base64.b64decode(data, validate=True), head.partition(";")[0] or BYTES
        except (binascii.Error, ValueError):
            raise ToolException("That is no `data:` URL in base64. Write data:image/png;base64,… .") from None
    return text.encode(), BYTES


def choose_media_type(content: Mapping[str, Any]) -> tuple[str, BodyKind]:
    """Choose the media type of a body, preferring JSON.

    Raises:
        Unusable: None of them can be sent.
    """
    found = sorted(_list_kinds(content), key=lambda it: _ORDER.index(it[1]))
    if not found:
        raise Unusable(f"its body is of none of the types that can be sent: {', '.join(content)[:100] or 'none'}")
    return found[0]


_ORDER: tuple[BodyKind, ...] = ("json", "form", "parts", "text", "bytes")


def _list_kinds(content: Mapping[str, Any]) -> Iterator[tuple[str, BodyKind]]:
    for media_type in content:
        kind = media_type.partition(";")[0].strip().lower()
        if kind in ("application/json", "*/*", "application/*") or kind.endswith("+json"):
            yield media_type if "*" not in media_type else "application/json", "json"
        elif kind == "application/x-www-form-urlencoded":
            yield media_type, "form"
        elif kind == "multipart/form-data":
            yield media_type, "parts"
        elif kind.startswith("text/") or kind.endswith(("/xml", "+xml", "/x-ndjson", "/yaml", "/graphql")):
            yield media_type if "*" not in media_type else "text/plain", "text"
        elif not kind.startswith("multipart/"):
            yield media_type if "*" not in media_type else "application/octet-stream", "bytes"


def find_members(schema: Any, definitions: Definitions) -> tuple[dict[str, Any], list[str]] | None:
    """Return the properties of a body and which are required; None for other schemas.

    Raises:
        Unusable: A reference is broken.
    """
    node = definitions.resolve(schema)
    if not isinstance(node, dict) or node.keys() & {"anyOf", "oneOf", "not", "if"}:
        return None
    if "allOf" in node:
        return _join_members(
            [{key: value for key, value in node.items() if key != "allOf"}, *node["allOf"]], definitions
        )
    if node.get("type", "object") != "object" or not isinstance(node.get("properties"), dict):
        return None
    if isinstance(node.get("additionalProperties"), dict) or node.get("nullable") is True:
        return None
    wanted = node.get("required")
    return dict(node["properties"]), [name for name in wanted if isinstance(name, str)] if isinstance(
        wanted, list
    ) else []


def _join_members(parts: list[Any], definitions: Definitions) -> tuple[dict[str, Any], list[str]] | None:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for part in parts:
        node = definitions.resolve(part)
        if isinstance(node, dict) and not node.keys() & {"properties", "allOf", "anyOf", "oneOf", "not", "type", "if"}:
            required += node.get("required", [])  # It only describes, or requires members of another one.
            continue
        found = find_members(node, definitions)
        if found is None or any(properties.get(name, inner) != inner for name, inner in found[0].items()):
            return None
        properties |= found[0]
        required += found[1]
    return (properties, list(dict.fromkeys(name for name in required if name in properties))) if properties else None


def is_file(schema: Any, encoding: Encoding, definitions: Definitions) -> bool:
    """Return whether a member of a form is a file, or a list of files."""
    node = definitions.resolve(schema)
    if not isinstance(node, dict):
        return False
    if node.get("type") == "array":
        return is_file(node.get("items"), encoding, definitions)
    is_text = node.get("contentEncoding") is not None
    if encoding.is_of_bytes and not is_text and node.get("type", "string") == "string":
        return True
    return node.get("format") == "binary" or ("contentMediaType" in node and not is_text)


def describe_file(schema: Schema) -> Schema:
    """Describe how a model refers to the bytes of a file."""
    said = str(schema.get("description", ""))
    if schema.get("type") == "array":
        return {"type": "array", "items": {"type": "string", "description": _FILE}, "description": said}
    return {"type": "string", "description": f"{said} {_FILE}".strip()}

"""Describe and write request bodies: JSON, forms, multipart, texts and bytes."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sidecall.features.openapi_import.definitions import Definitions, Unusable, write_compact, write_scalar
from sidecall.features.openapi_import.encodings import BYTES, Encoding, Member
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.tool import Schema

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

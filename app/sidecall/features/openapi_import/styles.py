"""Write values into URLs, headers and forms, in each style that OpenAPI has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, unquote

from pydantic_core import to_json

Where = Literal["path", "query", "header", "cookie", "body"]
_RESERVED = ":/?@!$'()*,;"
_DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "|"}
# Prefix and separator of values in a path.
_PATH_MARKS = {"label": (".", "."), "matrix": (";", ";")}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of an argument goes in a request, and its style."""

    argument: str
    name: str
    where: Where
    style: str = "form"
    explode: bool = True
    allows_reserved: bool = False
    is_json: bool = False

    def write_path(self, value: Any) -> str:
        """Write a value that is a part of the path."""
        if self.is_json or not isinstance(value, list | Mapping):
            text = _quote(write_compact(value) if self.is_json else write_scalar(value))
            return {"label": f".{text}", "matrix": f";{_quote(self.name)}={text}"}.get(self.style, text)
        first, between = _PATH_MARKS.get(self.style, ("", ","))
        if not self.explode:
            head = f"{first}{_quote(self.name)}=" if self.style == "matrix" else first
            return head + ",".join(_quote(text) for text in _list_flat(value))
        if isinstance(value, Mapping):
            return first + between.join(f"{_quote(key)}={_quote(write_scalar(it))}" for key, it in value.items())
        named = f"{_quote(self.name)}=" if self.style == "matrix" else ""
        return first + between.join(named + _quote(write_scalar(item)) for item in value)

    def write_query(self, value: Any) -> Iterator[str]:
        """Yield the pairs of a value in the query, or in a url-encoded form."""
        safe = _RESERVED if self.allows_reserved else ""
        name = _quote(self.name)
        if self.is_json or not isinstance(value, list | Mapping):
            yield f"{name}={quote(write_compact(value) if self.is_json else write_scalar(value), safe=safe)}"
        elif self.style == "deepObject":
            yield from (f"{_quote(inner)}={quote(text, safe=safe)}" for inner, text in _list_deep(self.name, value))
        elif not self.explode or (self.style in _DELIMITERS and not isinstance(value, Mapping)):
            between = _DELIMITERS.get(self.style, ",")
            yield f"{name}={between.join(quote(text, safe=safe) for text in _list_flat(value))}"
        elif isinstance(value, Mapping):
            yield from (f"{_quote(key)}={quote(write_scalar(it), safe=safe)}" for key, it in value.items())
        else:
            yield from (f"{name}={quote(write_scalar(item), safe=safe)}" for item in value)

    def list_parts(self, value: Any) -> Iterator[tuple[str, str]]:
        """Yield names and texts of a value as multipart parts, without percent-encoding."""
        if not isinstance(value, list | Mapping):
            yield self.name, write_scalar(value)
        elif self.style == "deepObject":
            yield from _list_deep(self.name, value)
        elif not self.explode or (self.style in _DELIMITERS and not isinstance(value, Mapping)):
            yield self.name, unquote(_DELIMITERS.get(self.style, ",")).join(_list_flat(value))
        elif isinstance(value, Mapping):
            yield from ((str(key), write_scalar(it)) for key, it in value.items())
        else:
            yield from ((self.name, write_scalar(item)) for item in value)

    def write_header(self, value: Any) -> str:
        """Write a value as the text of a header."""
        if self.is_json:
            return write_compact(value)
        if isinstance(value, Mapping) and self.explode:
            return ",".join(f"{key}={write_scalar(it)}" for key, it in value.items())
        return ",".join(_list_flat(value)) if isinstance(value, list | Mapping) else write_scalar(value)

    def write_cookie(self, value: Any) -> Iterator[str]:
        """Yield the pairs that say a value among the cookies."""
        yield from self.write_query(value)


def write_scalar(value: Any) -> str:
    """Write a single value as text, and any other as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else write_compact(value)


def write_compact(value: Any) -> str:
    """Write a value as compact JSON."""
    return to_json(value).decode()


def _quote(text: str) -> str:
    return quote(text, safe="")


def _list_flat(value: Any) -> list[str]:
    """List the items of an array, or the names and values of an object by turns."""
    if isinstance(value, Mapping):
        return [text for key, item in value.items() for text in (str(key), write_scalar(item))]
    return [write_scalar(item) for item in value]


def _list_deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of what is in a value, at every depth."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _list_deep(f"{name}[{key}]", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _list_deep(f"{name}[{index}]", item)
    else:
        yield name, write_scalar(value)

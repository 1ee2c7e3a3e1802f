"""Read a content in parts, so that a model can look into what was cut."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query
from pydantic_core import to_json
from starlette.responses import Response

from sidecall.core.contents import JSON, TEXT, KeptContent
from sidecall.core.errors import InvalidParameter
from sidecall.core.run.outlasting import outlast
from sidecall.dataclasses import dataclass
from sidecall.http.parameters import must_be
from sidecall.later import Later
from sidecall.rest.text_lines import ALL, MOST_CHARACTERS, cut_lines, find_lines, read_range

json_paths = Later("sidecall.rest.json_paths")

_NUMBER = "[1-9][0-9]{0,8}"
_RANGE = f"^({_NUMBER}|{_NUMBER}-({_NUMBER})?|-{_NUMBER})$"
Lines = Annotated[
    str | None,
    Query(pattern=_RANGE, description="Only these lines: `10-20`, `10-` or `-20`, the last twenty."),
    must_be(_RANGE, "Write it as `10`, `10-20`, `10-`, or `-20` for the last twenty lines"),
]
Word = Annotated[
    str | None,
    Query(
        alias="grep", min_length=1, max_length=200, description="Only lines that hold this text, with their numbers."
    ),
]
IgnoreCase = Annotated[bool, Query(description="Whether `grep` takes large letters and small ones for the same.")]
JsonPath = Annotated[
    str | None,
    Query(
        alias="path",
        min_length=1,
        max_length=1000,
        description="Only the values at this JSONPath (RFC 9535).",
        # Only documented: what is no path is told so in words.
        json_schema_extra={"pattern": r"^\$"},
    ),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a content a request asks for."""

    lines: str | None
    word: str | None
    ignore_case: bool
    path: str | None


async def read_wanted(
    lines: Lines = None, word: Word = None, ignore_case: IgnoreCase = False, path: JsonPath = None
) -> Wanted | None:
    """Read the parameters, as a dependency of a route; None when the whole is wanted.

    Raises:
        InvalidParameter: There is nothing for which case matters.
    """
    if ignore_case and word is None:
        raise InvalidParameter("`ignore_case` goes with `grep`.")
    return None if lines is None and word is None and path is None else Wanted(lines, word, ignore_case, path)


class Excerpts:
    """Make excerpts in a thread, one at a time, since each may take the content's memory several times."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def make(self, fetch: Callable[[], Awaitable[KeptContent]], wanted: Wanted) -> Response:
        """Answer with what is wanted of a content, which is fetched when its turn has come.

        Who leaves before that, leaves the others' turns to them.

        Raises:
            InvalidParameter: The content has no such thing, or too much of it.
        """
        await self._turn.acquire()
        # A thread goes on though nobody waits for it, and so long it is its turn.
        return await outlast(self._take_turn(fetch, wanted))

    async def _take_turn(self, fetch: Callable[[], Awaitable[KeptContent]], wanted: Wanted) -> Response:
        try:
            return await asyncio.to_thread(_make, await fetch(), wanted)
        finally:
            self._turn.release()


def _make(content: KeptContent, wanted: Wanted) -> Response:
    if wanted.path is None:
        return _cut(content.id, content.body.decode(errors="replace"), wanted)
    try:
        found = json_paths.find_values(content.body, wanted.path)
    except json_paths.PathError as error:
        raise InvalidParameter(f"`path`: {error}.") from None
    if wanted.lines is None and wanted.word is None:
        body = b"[" + b",".join(_write_all(found, MOST_CHARACTERS)) + b"]"
        return Response(body, media_type=JSON)
    return _cut(content.id, b"\n".join(_write_all(found, json_paths.MOST_BYTES, indent=2)).decode(), wanted)


def _write_all(found: list[Any], most: int, indent: int | None = None) -> list[bytes]:
    """Write values as JSON, those that are read by lines as their texts."""
    written, size = [], 2
    for value in found:
        is_text = indent is not None and isinstance(value, str)
        written.append(value.encode() if is_text else to_json(value, indent=indent))
        size += len(written[-1]) + 1
        if size > most:
            raise InvalidParameter(
                f"`path`: the {len(found)} values that it finds take more than {most} bytes; ask for fewer, "
                "such as [0:10], or for some of their lines with `lines=1-50`."
            )
    return written


def _cut(content_id: str, text: str, wanted: Wanted) -> Response:
    try:
        lines = ALL if wanted.lines is None else read_range(wanted.lines)
    except ValueError as error:
        raise InvalidParameter(f"`lines`: {error}.") from None
    if wanted.word is None:
        excerpt = cut_lines(text, lines)
    else:
        excerpt = find_lines(text, wanted.word, lines, ignore_case=wanted.ignore_case)
    response = Response(excerpt.text.encode(errors="replace"), media_type=TEXT)
    if excerpt.rest is not None:
        asked = {"grep": wanted.word, "ignore_case": wanted.ignore_case and "true", "path": wanted.path}
        query = urlencode({name: it for name, it in asked.items() if it} | {"lines": str(excerpt.rest)})
        response.headers["Link"] = f'</contents/{content_id}?{query}>; rel="next"'
    return response

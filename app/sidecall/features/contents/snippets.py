"""Read a content in parts, so that a model can read what was cut."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Query
from msgspec import Struct
from pydantic_core import to_json
from starlette.responses import Response

from sidecall.http.parameters import must_be, write_link
from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.concurrency.fair_queue import CallerKey, Semaphore, key_of
from sidecall.kernel.concurrency.pools import SNIPPETS
from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.errors import InvalidParameter, write_seconds
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.core.sender import Deadline
from sidecall.kernel.ports.contents import JSON, TEXT, KeptContent
from sidecall.lazy_imports import Later

# Characters of one answer: about as much as a model should read at once.
MOST_CHARACTERS = 64 * 1024
# Maximum matching lines, and characters of context in a long line.
MOST_FOUND = 100
_AROUND = 200
# Prefixes of a line of JSON with members.
_BEGIN_JSON = frozenset("{[")
# Characters that are scanned for line ends at once.
_PIECE = 64 * 1024


class LineRange(Struct, frozen=True):
    """Lines from the first (1-based) to the last, inclusive; without a first one, so many at the end."""

    first: int | None = 1
    last: int | None = None

    def __str__(self) -> str:
        return f"{self.first or ''}-{self.last or ''}"


ALL = LineRange()


class Snippet(Struct, frozen=True):
    """Part of a text, and the lines to ask for next if it did not fit."""

    text: str
    rest: LineRange | None = None


def read_range(text: str) -> LineRange:
    """Read `10-20`, `10-`, `-20` or `10`.

    Raises:
        ValueError: The last line is before the first.
    """
    first, sign, last = text.partition("-")
    if not sign:
        return LineRange(int(first), int(first))
    if first and last and int(last) < int(first):
        raise ValueError(f"line {last} is before line {first}")
    return LineRange(int(first) if first else None, int(last) if last else None)


def cut_lines(text: str, wanted: LineRange) -> Snippet:
    """Return lines of a text, as many as fit."""
    first, start, stop = _locate(text, wanted)
    if stop - start <= MOST_CHARACTERS:
        return Snippet(text[start:stop])
    # The end of the last line needs no room.
    after = text.rfind("\n", start, start + MOST_CHARACTERS + 1) + 1
    shown = text[start:after]
    if after == stop:
        return Snippet(shown)
    if shown:
        rest = _go_on(wanted, first + shown.count("\n"))
        return Snippet(f"{shown}[… read on with lines={rest} …]\n", rest)
    return _cut_line(text, first, (start, stop), _go_on(wanted, first + 1))


def _go_on(wanted: LineRange, number: int) -> LineRange:
    """Return the rest of the requested lines, from this number on."""
    return LineRange(number, wanted.last if wanted.first else None)


def _cut_line(text: str, number: int, bounds: tuple[int, int], after: LineRange) -> Snippet:
    """Return the head of a line that does not fit, with a note on how to read the rest, which lines cannot address."""
    start, stop = bounds
    end = text.find("\n", start, stop)
    over = (stop if end < 0 else end) - start - MOST_CHARACTERS
    rest = None if end < 0 or end + 1 >= stop else after
    further = "" if rest is None else f"; read on with lines={rest}"
    head = text[start : start + MOST_CHARACTERS]
    ways = "grep=word or path=$…" if head[:1] in _BEGIN_JSON else "grep=word"
    return Snippet(
        f"{head}\n[… {over} characters of line {number} left out: look into them with {ways}{further} …]\n", rest
    )


def find_lines(text: str, word: str, wanted: LineRange, *, ignore_case: bool = False) -> Snippet:
    """Return the matching lines with number and colon; of long lines the surroundings of the match."""
    number, start, stop = _locate(text, wanted)
    searched, sought = (_fold(text), _fold(word)) if ignore_case else (text, word)
    found: list[str] = []
    counted = start
    at = searched.find(sought, start, stop)
    while at >= 0:
        here = number + text.count("\n", counted, at)
        if len(found) == MOST_FOUND:
            is_crowded = here == number
            if is_crowded:
                at = _find_in_later_line(searched, sought, at, stop)
            rest = None if at < 0 else _go_on(wanted, number + text.count("\n", counted, at))
            return _end_search(found, number if is_crowded else None, rest)
        number, counted = here, at
        shown, end = _show_around(text, at, at + len(sought), (start, stop))
        found.append(f"{number}:{shown}\n")
        at = searched.find(sought, end, stop)
    return Snippet("".join(found))


def _find_in_later_line(text: str, sought: str, at: int, stop: int) -> int:
    """Return the next offset of a text behind the line at this offset; -1 if there is none."""
    end = text.find("\n", at, stop)
    return -1 if end < 0 else text.find(sought, end + 1, stop)


def _end_search(found: list[str], crowded: int | None, rest: LineRange | None) -> Snippet:
    """Note further matches: in the line of this number, and in later lines."""
    ways = [] if crowded is None else [f"more of it in line {crowded}; look for something longer"]
    ways += [] if rest is None else [f"read on with lines={rest}"]
    return Snippet("".join([*found, f"[… {'; '.join(ways)} …]\n"]), rest)


def _show_around(text: str, at: int, after: int, bounds: tuple[int, int]) -> tuple[str, int]:
    """Return the surroundings of a match in its line, and their end."""
    start, stop = max(bounds[0], at - _AROUND), min(bounds[1], after + _AROUND)
    begin, end = text.rfind("\n", start, at) + 1, text.find("\n", after, stop)
    is_begun = begin > 0 or start == bounds[0]
    is_ended = end >= 0 or stop == bounds[1]
    begin, end = begin or start, end if end >= 0 else stop
    return f"{'' if is_begun else '…'}{text[begin:end]}{'' if is_ended else '…'}", end


def _fold(text: str) -> str:
    """Return a text in lower case of the same length: the exceptions would become two characters, or have two forms."""
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")


def _locate(text: str, wanted: LineRange) -> tuple[int, int, int]:
    """Return the number of the first requested line, and the offsets of the lines."""
    if wanted.first is None:
        count = text.count("\n") + (not text.endswith("\n"))
        first = max(1, count - (wanted.last or 0) + 1)
        return first, _skip(text, 0, first - 1), len(text)
    start = _skip(text, 0, wanted.first - 1)
    stop = len(text) if wanted.last is None else _skip(text, start, wanted.last - wanted.first + 1)
    return wanted.first, start, stop


def _skip(text: str, start: int, count: int) -> int:
    """Return the offset of the line so many lines later, or the end; line ends are counted in blocks."""
    while count and start < len(text):
        held = text.count("\n", start, start + _PIECE)
        if held >= count:
            for _ in range(count):
                start = text.find("\n", start) + 1
            return start
        count -= held
        start += _PIECE
    return min(start, len(text))


json_paths = Later("sidecall.features.contents.json_paths")

T = TypeVar("T")

# Waiting requests: of all callers, and of one.
MOST_WAITING = 1000
MOST_OF_CALLER = 100
# Seconds after which a refused client may try again.
_RETRY_AFTER = 1
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
        alias="grep",
        min_length=1,
        max_length=200,
        pattern=r"^[^\n]*$",
        description="Only lines that hold this text, with their numbers.",
    ),
    must_be(r"^[^\n]*\Z", "Leave out the line feed: no line holds one"),
]
IgnoreCase = Annotated[bool, Query(description="Whether `grep` takes large letters and small ones for the same.")]
JsonPath = Annotated[
    str | None,
    Query(
        alias="path",
        min_length=1,
        max_length=1000,
        description="Only the values at this JSONPath (RFC 9535).",
        # For the document only: an invalid path gets a message in words.
        json_schema_extra={"pattern": r"^\$"},
    ),
]


class Wanted(Struct, frozen=True):
    """The part of a content that a request asks for."""

    lines: str | None
    word: str | None
    ignore_case: bool
    path: str | None


async def read_wanted(
    lines: Lines = None, word: Word = None, ignore_case: IgnoreCase = False, path: JsonPath = None
) -> Wanted | None:
    """Read the parameters, as a dependency of a route; None for the whole content.

    Raises:
        InvalidParameter: `ignore_case` without a pattern.
    """
    if ignore_case and word is None:
        raise InvalidParameter("`ignore_case` goes with `grep`.")
    return None if lines is None and word is None and path is None else Wanted(lines, word, ignore_case, path)


class SnippetReader:
    """Make snippets in a thread, one at a time, since each may take several times the content's memory.

    Callers take turns, and each may have a share of the waiting requests.
    """

    def __init__(self, patience: float = 10.0) -> None:
        """Take the longest wait for a turn, in seconds."""
        self._turn = Semaphore(1)
        self._patience = patience

    async def make(
        self,
        fetch: Callable[[], Awaitable[KeptContent]],
        wanted: Wanted,
        caller: Caller = ANONYMOUS,
        deadline: Deadline | None = None,
    ) -> Response:
        """Answer with a snippet of a content, which is fetched when its turn comes.

        A request that leaves early does not hold up others.

        Raises:
            InvalidParameter: The content has no such thing, or too much of it.
            Overloaded: Too many wait, or the wait was too long.
        """
        whose = key_of(caller)
        await self._enter(whose, deadline)
        # A thread continues after its request is gone, and keeps its turn until it ends.
        making = outlast(self._take_turn(fetch, wanted, whose))
        if deadline is None:
            return await making
        return await _wait(making, deadline.left, deadline.seconds)

    async def _enter(self, caller: CallerKey, deadline: Deadline | None) -> None:
        waiting = self._turn.waiting
        if len(waiting) >= MOST_WAITING or len(waiting.callers.get(caller, ())) >= MOST_OF_CALLER:
            text = f"Requests for parts of contents that wait already: {len(waiting)}."
            raise Overloaded(text, retry_after=_RETRY_AFTER)
        patience = allowed = self._patience
        if deadline is not None and deadline.left < patience:
            patience, allowed = deadline.left, deadline.seconds
        await _wait(self._turn.enter(caller), patience, allowed)

    async def _take_turn(
        self, fetch: Callable[[], Awaitable[KeptContent]], wanted: Wanted, caller: CallerKey
    ) -> Response:
        try:
            return await SNIPPETS.run_for(caller, _make, await fetch(), wanted)
        finally:
            self._turn.waiting.postpone(caller)
            self._turn.leave()


async def _wait(work: Awaitable[T], patience: float, allowed: float) -> T:
    """Wait no longer than `patience`, of the seconds that were allowed."""
    try:
        async with asyncio.timeout(patience):
            return await work
    except TimeoutError:
        text = f"The request for a part of a content waited {write_seconds(allowed)} in vain."
        raise Overloaded(text, retry_after=_RETRY_AFTER) from None


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
        snippet = cut_lines(text, lines)
    else:
        snippet = find_lines(text, wanted.word, lines, ignore_case=wanted.ignore_case)
    response = Response(snippet.text.encode(errors="replace"), media_type=TEXT)
    if snippet.rest is not None:
        asked = {"grep": wanted.word, "ignore_case": wanted.ignore_case and "true", "path": wanted.path}
        query = [*((name, it or None) for name, it in asked.items()), ("lines", str(snippet.rest))]
        response.headers["Link"] = write_link(f"/contents/{content_id}", query)
    return response

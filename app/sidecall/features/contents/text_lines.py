"""Read lines of a text, or search it, with a bounded answer."""

from dataclasses import dataclass

# Characters of one answer: about as much as a model should read at once.
MOST_CHARACTERS = 64 * 1024
# Maximum matching lines, and characters of context in a long line.
MOST_FOUND = 100
_AROUND = 200
# Prefixes of a line of JSON with members.
_BEGIN_JSON = frozenset("{[")
# Characters that are scanned for line ends at once.
_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines from the first (1-based) to the last, inclusive; without a first one, so many at the end."""

    first: int | None = 1
    last: int | None = None

    def __str__(self) -> str:
        return f"{self.first or ''}-{self.last or ''}"


ALL = LineRange()


@dataclass(frozen=True, slots=True)
class Excerpt:
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


def cut_lines(text: str, wanted: LineRange) -> Excerpt:
    """Return lines of a text, as many as fit."""
    first, start, stop = _locate(text, wanted)
    if stop - start <= MOST_CHARACTERS:
        return Excerpt(text[start:stop])
    # The end of the last line needs no room.
    after = text.rfind("\n", start, start + MOST_CHARACTERS + 1) + 1
    shown = text[start:after]
    if after == stop:
        return Excerpt(shown)
    if shown:
        rest = _go_on(wanted, first + shown.count("\n"))
        return Excerpt(f"{shown}[… read on with lines={rest} …]\n", rest)
    return _cut_line(text, first, (start, stop), _go_on(wanted, first + 1))


def _go_on(wanted: LineRange, number: int) -> LineRange:
    """Return the rest of the requested lines, from this number on."""
    return LineRange(number, wanted.last if wanted.first else None)


def _cut_line(text: str, number: int, bounds: tuple[int, int], after: LineRange) -> Excerpt:
    """Return the head of a line that does not fit, with a note on how to read the rest, which lines cannot address."""
    start, stop = bounds
    end = text.find("\n", start, stop)
    over = (stop if end < 0 else end) - start - MOST_CHARACTERS
    rest = None if end < 0 or end + 1 >= stop else after
    further = "" if rest is None else f"; read on with lines={rest}"
    head = text[start : start + MOST_CHARACTERS]
    ways = "grep=word or path=$…" if head[:1] in _BEGIN_JSON else "grep=word"
    return Excerpt(
        f"{head}\n[… {over} characters of line {number} left out: look into them with {ways}{further} …]\n", rest
    )


def find_lines(text: str, word: str, wanted: LineRange, *, ignore_case: bool = False) -> Excerpt:
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
    return Excerpt("".join(found))


def _find_in_later_line(text: str, sought: str, at: int, stop: int) -> int:
    """Return the next offset of a text behind the line at this offset; -1 if there is none."""
    end = text.find("\n", at, stop)
    return -1 if end < 0 else text.find(sought, end + 1, stop)


def _end_search(found: list[str], crowded: int | None, rest: LineRange | None) -> Excerpt:
    """Note further matches: in the line of this number, and in later lines."""
    ways = [] if crowded is None else [f"more of it in line {crowded}; look for something longer"]
    ways += [] if rest is None else [f"read on with lines={rest}"]
    return Excerpt("".join([*found, f"[… {'; '.join(ways)} …]\n"]), rest)


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

"""Apply the hunks of a patch to a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sidecall.features.file_tools.patching.anchors import HunkFinder, HunkPlace
from sidecall.features.file_tools.patching.hunks import Hunk
from sidecall.features.file_tools.patching.indents import Reindent
from sidecall.features.file_tools.patching.text_lines import TextLine, join_lines, split_text

_BOM = "\ufeff"


@dataclass(frozen=True)
class PatchedText:
    """A patched text, and a note on each hunk."""

    text: str
    notes: tuple[str, ...] = ()


# For an added line; its ending is set when its neighbours are known.
_Built = tuple[TextLine, bool]


def apply_hunks(text: str, hunks: Sequence[Hunk]) -> PatchedText:
    """Apply hunks to a text; its lines keep their endings.

    Raises:
        PatchRefused: A hunk does not fit, or fits in several places.
    """
    bom = _BOM if text.startswith(_BOM) else ""
    lines = split_text(text.removeprefix(bom))
    finder = HunkFinder([line.text for line in lines])
    built: list[_Built] = []
    notes: list[str] = []
    done = 0
    for hunk in hunks:
        place = finder.find(hunk)
        built += [(line, False) for line in lines[done : place.start]]
        replaced, is_indented = _replace(hunk, lines[place.start : place.start + place.length], place)
        built += replaced
        done = place.start + place.length
        notes.append(_describe(hunk, place, is_indented=is_indented))
    built += [(line, False) for line in lines[done:]]
    reaches_end = done == len(lines)
    return PatchedText(bom + join_lines(_end_lines(built, lines, hunks[-1] if reaches_end else None)), tuple(notes))


def _replace(hunk: Hunk, theirs: Sequence[TextLine], place: HunkPlace) -> tuple[list[_Built], bool]:
    """Build the lines of one hunk, with the file's context; also return whether added lines were re-indented."""
    pairs = zip((line.text for line in hunk.old), (line.text for line in theirs), strict=True)
    indent = Reindent(pairs if place.how.drops_indent else ())
    built: list[_Built] = []
    position = 0
    for is_context, group in groupby(hunk.lines, lambda line: line.sign == " "):
        lines = list(group)
        old = theirs[position : position + sum(line.sign != "+" for line in lines)]
        position += len(old)
        if is_context:
            built += [(line, False) for line in old]
        else:
            added = [indent.apply(line.text) for line in lines if line.sign == "+"]
            # Each line takes the line ending of the one that it replaces.
            endings = [line.ending for line in old] or [""]
            built += [(TextLine(text, endings[min(n, len(endings) - 1)]), True) for n, text in enumerate(added)]
    added = [line.text for line in hunk.lines if line.sign == "+"]
    return built, added != [line.text for line, is_added in built if is_added]


def _end_lines(built: list[_Built], lines: Sequence[TextLine], last_hunk: Hunk | None) -> list[TextLine]:
    """Give each line an ending: its own, or that of its neighbours; only the last may have none."""
    usual = next((line.ending for line in lines if line.ending), "\n")
    ended: list[TextLine] = []
    for line, _ in built:
        ending = line.ending or (ended[-1].ending if ended else _next_ending(built, usual))
        ended.append(TextLine(line.text, ending))
    if ended and _ends_bare(built, lines, last_hunk):
        ended[-1] = TextLine(ended[-1].text, "")
    return ended


def _next_ending(built: list[_Built], usual: str) -> str:
    return next((line.ending for line, is_added in built if line.ending and not is_added), usual)


def _ends_bare(built: list[_Built], lines: Sequence[TextLine], last_hunk: Hunk | None) -> bool:
    """Return whether the new text ends without a newline."""
    line, is_added = built[-1]
    if last_hunk is not None and last_hunk.final_newline is not None:
        return not last_hunk.final_newline
    was_bare = bool(lines) and not lines[-1].ending
    return was_bare if is_added else not line.ending


def _describe(hunk: Hunk, place: HunkPlace, *, is_indented: bool) -> str:
    said = [place.how.words]
    if is_indented:
        said.append("the added lines are indented as the file is")
    if place.note:
        said.append(place.note)
    return f"hunk {hunk.index}: line {place.start + 1}, {', '.join(said)}"

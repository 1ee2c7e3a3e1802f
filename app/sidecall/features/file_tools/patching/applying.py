"""Apply the hunks of a patch to a text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from sidecall.features.file_tools.patching.hunks import (
    Hunk,
    PatchRefused,
    Reindent,
)
from sidecall.features.file_tools.patching.match_lines import HunkFinder, HunkPlace
from sidecall.features.file_tools.patching.parsing import FilePatch

ReadText = Callable[[str], str | None]


@dataclass(frozen=True)
class PlannedFile:
    """The planned text of a file (None to remove it), a line that describes the change, and a note on each hunk."""

    path: str
    text: str | None
    line: str
    notes: tuple[str, ...] = ()


def plan_patches(patches: Sequence[FilePatch], read: ReadText) -> list[PlannedFile]:
    """Plan patches, one after the other.

    Args:
        patches: The patches of the files.
        read: Returns the present text of a file; None if there is none.

    Raises:
        PatchRefused: One of them cannot be applied; then none is.
    """
    planned: list[PlannedFile] = []
    texts: dict[str, str | None] = {}

    def read_planned(path: str) -> str | None:
        return texts[path] if path in texts else read(path)

    for patch in patches:
        try:
            files = _PLANS[patch.kind](patch, read_planned)
            planned += files
            texts.update((file.path, file.text) for file in files)
        except PatchRefused as error:
            others = " No file was changed." if len(patches) > 1 else " Nothing was changed."
            raise PatchRefused(f"{patch.path}: {error.message}{others}") from None
    return planned


def _plan_new(patch: FilePatch, read: ReadText) -> list[PlannedFile]:
    if read(patch.path):
        raise PatchRefused("The file exists already and is not empty. Update it, or delete it first.")
    return [PlannedFile(patch.path, patch.text, f"A {patch.path}")]


def _plan_update(patch: FilePatch, read: ReadText) -> list[PlannedFile]:
    text = read(patch.path)
    if text is None:
        raise PatchRefused("There is no such file.")
    patched = apply_hunks(text, patch.hunks) if patch.hunks else None
    new, notes = (patched.text, patched.notes) if patched else (text, ())
    if patch.move_to is None or patch.move_to == patch.path:
        return [PlannedFile(patch.path, new, f"M {patch.path}", notes)]
    if read(patch.move_to):
        raise PatchRefused(f"It cannot be moved to {patch.move_to}, which exists already.")
    return [
        PlannedFile(patch.move_to, new, f"M {patch.path} -> {patch.move_to}", notes),
        PlannedFile(patch.path, None, ""),
    ]


def _plan_removal(patch: FilePatch, read: ReadText) -> list[PlannedFile]:
    if read(patch.path) is None:
        raise PatchRefused("There is no such file.")
    return [PlannedFile(patch.path, None, f"D {patch.path}")]


_PLANS = {"add": _plan_new, "update": _plan_update, "delete": _plan_removal}


def describe_plan(planned: Sequence[PlannedFile]) -> str:
    """Describe the applied changes."""
    lines = [line for file in planned for line in (file.line, *(f"  {note}" for note in file.notes)) if line]
    return "\n".join(["Success. Updated the following files:", *lines])


class TextLine(NamedTuple):
    """A line and its ending: a line feed with or without a carriage return, or nothing at the end of the text."""

    text: str
    ending: str


def split_text(text: str) -> list[TextLine]:
    """Split a text at line feeds only, since a line may contain all other separators."""
    *whole, last = text.split("\n")
    lines = [TextLine(line[:-1], "\r\n") if line.endswith("\r") else TextLine(line, "\n") for line in whole]
    return [*lines, TextLine(last, "")] if last else lines


def join_lines(lines: Iterable[TextLine]) -> str:
    """Write the text of lines."""
    return "".join(line.text + line.ending for line in lines)


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

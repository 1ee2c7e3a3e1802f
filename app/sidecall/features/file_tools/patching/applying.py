"""Apply the hunks of a patch to a text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from sidecall.features.file_tools.patching.anchors import HunkFinder, HunkPlace
from sidecall.features.file_tools.patching.hunks import (
    Hunk,
    PatchRefused,
    Reindent,
    number_lines,
    quote_line,
    read_hunks,
    read_new_text,
)

PatchKind = Literal["add", "update", "delete"]

BEGIN = "*** Begin Patch"
END = "*** End Patch"
_MOVE = "*** Move to: "
_DELETION = "*** Delete File: "
_SECTIONS: dict[str, PatchKind] = {
    "*** Add File: ": "add",
    "*** Update File: ": "update",
    _DELETION: "delete",
}
# The name of each operation of OpenAI's item.
_ITEMS: dict[str, PatchKind] = {"create_file": "add", "update_file": "update", "delete_file": "delete"}

_Lines = Sequence[tuple[int, str]]


@dataclass(frozen=True)
class FilePatch:
    """The part of a patch for one file."""

    kind: PatchKind
    path: str
    hunks: tuple[Hunk, ...] = ()
    text: str = ""
    move_to: str | None = None


def read_envelope(patch: str) -> list[FilePatch]:
    """Read the operations of a patch that names its files.

    Raises:
        PatchRefused: It is not a valid patch.
    """
    lines = [(number, line) for number, line in number_lines(patch)]
    while lines and not lines[0][1].strip():
        lines.pop(0)
    while lines and not lines[-1][1].strip():
        lines.pop()
    if not lines or lines[0][1].strip() != BEGIN:
        raise PatchRefused(f"A patch begins with the line `{BEGIN}`.")
    if lines[-1][1].strip() != END:
        raise PatchRefused(f"The patch is not whole: its last line must be `{END}`.")
    patches = [_read_section(section) for section in _cut_sections(lines[1:-1])]
    if not patches:
        raise PatchRefused(f"The patch names no file: write {', '.join(f'`{name}…`' for name in _SECTIONS)}.")
    return patches


def deletes_files(patch: str) -> bool:
    """Return whether a patch, if it can be read, deletes a file."""
    return any(line.startswith(_DELETION) for _, line in number_lines(patch))


def read_operation(kind: str, path: str, diff: str) -> FilePatch:
    """Read one operation of OpenAI's item: `create_file`, `update_file` or `delete_file`.

    An envelope around the diff is removed if it is of the same operation.

    Raises:
        PatchRefused: The diff is invalid, or is of another file.
    """
    if kind not in _ITEMS:
        raise PatchRefused(f"There is no operation {kind!r}: use {', '.join(_ITEMS)}.")
    wanted = _ITEMS[kind]
    if wanted == "delete":
        return FilePatch("delete", path)
    head = diff.lstrip()
    if head.startswith((BEGIN, *_SECTIONS)):
        return _unwrap(wanted, path, head if head.startswith(BEGIN) else f"{BEGIN}\n{head.rstrip()}\n{END}")
    return _read_body(wanted, path, number_lines(diff))


def _unwrap(kind: PatchKind, path: str, patch: str) -> FilePatch:
    patches = read_envelope(patch)
    inner = patches[0]
    if len(patches) > 1 or (inner.kind, _plain(inner.path)) != (kind, _plain(path)):
        named = ", ".join(f"{it.kind} {it.path}" for it in patches)
        raise PatchRefused(f"This operation is: {kind} {path}. The patch in its diff is another one: {named}.")
    if inner.move_to is not None:
        raise PatchRefused("An operation cannot move its file: create the new file and delete the old one instead.")
    return FilePatch(kind, path, inner.hunks, inner.text)


def _plain(path: str) -> str:
    return path.removeprefix("/workspace").removeprefix("./").strip("/")


def _cut_sections(lines: _Lines) -> list[list[tuple[int, str]]]:
    sections: list[list[tuple[int, str]]] = []
    for number, line in lines:
        if line.startswith(tuple(_SECTIONS)):
            sections.append([(number, line)])
        elif sections:
            sections[-1].append((number, line))
        elif line.strip():
            orphan = f"Line {number} of the patch, {quote_line(line)}, belongs to no file: name it above, as in"
            raise PatchRefused(f"{orphan} `*** Update File: src/app.py`.")
    return sections


def _read_section(lines: list[tuple[int, str]]) -> FilePatch:
    number, head = lines[0]
    name = next(name for name in _SECTIONS if head.startswith(name))
    kind, path, body = _SECTIONS[name], head[len(name) :].strip(), lines[1:]
    if not path:
        raise PatchRefused(f"Line {number} of the patch names no file.")
    if kind == "delete":
        orphan = next((line for line in body if line[1].strip()), None)
        if orphan is not None:
            raise PatchRefused(
                f"Line {orphan[0]} of the patch, {quote_line(orphan[1])}, follows a file that is deleted."
            )
        return FilePatch("delete", path)
    if kind == "update" and body and body[0][1].startswith(_MOVE):
        move_to = body[0][1][len(_MOVE) :].strip()
        hunks = read_hunks(body[1:]) if any(line.strip() for _, line in body[1:]) else []
        return FilePatch("update", path, tuple(hunks), move_to=move_to)
    return _read_body(kind, path, body)


def _read_body(kind: PatchKind, path: str, lines: _Lines) -> FilePatch:
    if kind == "add":
        return FilePatch("add", path, text=read_new_text(lines))
    return FilePatch("update", path, tuple(read_hunks(lines)))


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

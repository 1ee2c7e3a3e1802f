"""Read a patch: the files that it names, and what it does to each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sidecall.features.file_tools.patching.hunks import (
    Hunk,
    PatchRefused,
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

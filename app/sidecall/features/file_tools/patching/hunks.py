"""The hunks of a diff: what each expects, what it inserts, and where."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sidecall.kernel.core.errors import ToolException

END_OF_FILE = "*** End of File"

_NUMBERED = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@.*")

_HEADER = re.compile(r"(diff --git|index|new file mode|deleted file mode|old mode|new mode|similarity index) ")

_ALLOWED = "a space, `+`, `-` or `@@`"


class HunkLine(NamedTuple):
    """A line of a hunk: its sign (a space, `+` or `-`), its text, and its number in the patch."""

    sign: str
    text: str
    number: int
    is_bare: bool = False  # An empty line without a sign.


@dataclass(frozen=True)
class Hunk:
    """A change in one place.

    `anchors` are lines above the place, outermost first. `hint` is the line number that a unified diff gives; models
    often count wrong. `final_newline` is whether the text ends with one afterwards; None: as before.
    """

    index: int
    number: int
    anchors: tuple[str, ...] = ()
    hint: int | None = None
    lines: tuple[HunkLine, ...] = ()
    is_at_end: bool = False
    final_newline: bool | None = None

    @property
    def old(self) -> list[HunkLine]:
        """The lines that it expects to find."""
        return [line for line in self.lines if line.sign != "+"]

    @property
    def new(self) -> list[HunkLine]:
        """The lines that it leaves."""
        return [line for line in self.lines if line.sign != "-"]

    @property
    def name(self) -> str:
        """The name of the hunk in messages."""
        return f"Hunk {self.index} (line {self.number} of the patch)"


@dataclass
class _Draft:
    number: int
    anchors: list[str] = field(default_factory=list)
    hint: int | None = None
    lines: list[HunkLine] = field(default_factory=list)
    is_at_end: bool = False
    # Whether the old and the new text are marked as ending without a newline.
    ends_bare: set[str] = field(default_factory=set)

    def finish(self, index: int) -> Hunk | None:
        # Empty lines between hunks are no context.
        while self.lines and self.lines[-1].is_bare:
            self.lines.pop()
        if not self.lines:
            return None
        newline = False if "+" in self.ends_bare else True if "-" in self.ends_bare else None
        return Hunk(
            index, self.number, tuple(self.anchors), self.hint, tuple(self.lines), self.is_at_end, newline
        )  # fmt: skip


class _Reader:
    """Reads a diff line by line."""

    def __init__(self, number: int) -> None:
        self._drafts = [_Draft(number)]

    def read(self, number: int, line: str) -> None:
        draft = self._drafts[-1]
        if line.startswith("@@"):
            self._open(number, line)
        elif line.startswith("\\"):
            draft.ends_bare.add(draft.lines[-1].sign if draft.lines else " ")
        elif line.rstrip() == END_OF_FILE:
            draft.is_at_end = True
        elif not line or line[0] in " +-":
            self._add(HunkLine(line[:1] or " ", line[1:], number, not line))
        else:
            raise PatchRefused(_describe_orphan(number, line))

    def _open(self, number: int, line: str) -> None:
        draft = self._drafts[-1]
        if draft.lines:
            draft = _Draft(number)
            self._drafts.append(draft)
        numbered = _NUMBERED.fullmatch(line)
        anchor = line[2:].removeprefix(" ")
        if numbered:
            # Additions come after the named line.
            draft.hint = int(numbered[1]) + (numbered[2] == "0")
        elif anchor.strip() not in ("", "...", "... @@"):
            draft.anchors.append(anchor)

    def _add(self, line: HunkLine) -> None:
        draft = self._drafts[-1]
        if draft.is_at_end and not line.is_bare:
            raise PatchRefused(
                f"Line {line.number} of the patch comes after `{END_OF_FILE}`; begin it with `@@` first."
            )
        if line.is_bare and (draft.is_at_end or not draft.lines):
            return
        draft.lines.append(line)

    def finish(self) -> list[Hunk]:
        hunks: list[Hunk] = []
        for draft in self._drafts:
            hunk = draft.finish(len(hunks) + 1)
            if hunk is not None:
                hunks.append(hunk)
        return hunks


def number_lines(text: str, first: int = 1) -> list[tuple[int, str]]:
    """Split a patch into numbered lines without endings."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [(number, line.removesuffix("\r")) for number, line in enumerate(lines, first)]


def read_hunks(lines: Sequence[tuple[int, str]]) -> list[Hunk]:
    """Read the hunks of a diff from its counted lines; headers of a unified diff may precede them.

    Raises:
        PatchRefused: A line is not part of a diff, or there is nothing to change.
    """
    body = skip_headers(lines)
    reader = _Reader(body[0][0] if body else 1)
    for number, line in body:
        reader.read(number, line)
    hunks = reader.finish()
    if not any(line.sign != " " for hunk in hunks for line in hunk.lines):
        raise PatchRefused("The patch changes nothing: no line of it begins with `+` or `-`.")
    return [replace(hunk, index=index) for index, hunk in enumerate(hunks, 1)]


def read_new_text(lines: Sequence[tuple[int, str]]) -> str:
    """Read the text of a new file from lines with `+`; it ends with a newline unless the diff says otherwise.

    Raises:
        PatchRefused: A line begins with something else.
    """
    texts: list[str] = []
    ending = "\n"
    body = list(skip_headers(lines))
    while body and not body[-1][1]:
        body.pop()
    for number, line in body:
        if line.startswith("\\"):
            ending = ""
        elif line.startswith("+") or not line:
            texts.append(line[1:])
        elif not line.startswith("@@") and line.rstrip() != END_OF_FILE:
            orphan = f"Line {number} of the patch, {quote_line(line)}, must begin with `+`"
            raise PatchRefused(f"{orphan}, as every line of a new file does.")
    return "\n".join(texts) + ending if texts else ""


def skip_headers(lines: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Skip the file headers of a unified diff."""
    start = 0
    while start < len(lines):
        line, following = lines[start][1], lines[start + 1][1] if start + 1 < len(lines) else ""
        if _HEADER.match(line) or not line:
            start += 1
        elif line.startswith("--- ") and following.startswith("+++ "):
            return lines[start + 2 :]
        else:
            break
    return lines[start:]


def _describe_orphan(number: int, line: str) -> str:
    if line.startswith("*** "):
        return f"Line {number} of the patch, {quote_line(line)}, is not known here. A diff has hunks of one file only."
    return f"Line {number} of the patch, {quote_line(line)}, must begin with {_ALLOWED}: write a space before context."


class Reindent:
    """How the indentation of a hunk's lines has to change to fit the file.

    It is derived from lines that both have.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Take pairs of lines: as in the patch, and as in the file."""
        indents = [(indent_of(ours), indent_of(theirs)) for ours, theirs in pairs if ours.strip() and theirs.strip()]
        self._known = dict(indents)
        self._is_consistent = all(self._known[ours] == theirs for ours, theirs in indents)

    @property
    def changes(self) -> bool:
        """Whether any line of the patch is indented differently from the file."""
        return not self._is_consistent or any(ours != theirs for ours, theirs in self._known.items())

    def apply(self, line: str) -> str:
        """Indent an added line like the file.

        Raises:
            PatchRefused: The common lines do not determine the indentation.
        """
        ours = indent_of(line)
        if not self.changes or ours == line:
            return line
        theirs = self._translate(ours) if self._is_consistent else None
        if theirs is None:
            raise PatchRefused(
                "The patch fits only when indentation is ignored, and its added lines cannot be indented as the file"
                " is. Send them, and their context, with the file's own indentation."
            )
        return theirs + line[len(ours) :]

    def _translate(self, ours: str) -> str | None:
        if ours in self._known:
            return self._known[ours]
        found = (way(ours) for way in (self._shift, self._scale, self._keep))
        return next((theirs for theirs in found if theirs is not None), None)

    def _shift(self, ours: str) -> str | None:
        """Add or remove the same prefix, if all known lines differ by it."""
        known, theirs = next(iter(self._known.items()))
        if theirs.endswith(known):
            more = theirs.removesuffix(known)
            return more + ours if all(it == more + its for its, it in self._known.items()) else None
        less = known.removesuffix(theirs) if known.endswith(theirs) else ""
        if not less or not ours.startswith(less) or any(its != less + it for its, it in self._known.items()):
            return None
        return ours.removeprefix(less)

    def _scale(self, ours: str) -> str | None:
        """Convert each indentation step of the patch to one of the file, such as a tab for four spaces."""
        known, theirs = min(((it, its) for it, its in self._known.items() if it), default=("", ""))
        count = _count_steps(known) if known else 1
        our_step, their_step = known[: len(known) // count], theirs[: len(theirs) // count]
        if not our_step or any(_repeat(it, our_step, their_step) != its for it, its in self._known.items()):
            return None
        return _repeat(ours, our_step, their_step)

    def _keep(self, ours: str) -> str | None:
        """Keep the extra depth below a line with equal indentation."""
        alike = any(known and known == theirs and ours.startswith(known) for known, theirs in self._known.items())
        return ours if alike else None


def _repeat(indent: str, step: str, other: str) -> str | None:
    """Rewrite an indentation with another step; None if it does not consist of the first."""
    times = len(indent) // len(step)
    return other * times if step * times == indent else None


def _count_steps(indent: str) -> int:
    """Count the steps of an indentation: a tab each, or four spaces, two, or all."""
    if set(indent) == {"\t"}:
        return len(indent)
    step = next((step for step in (4, 2) if len(indent) % step == 0), len(indent))
    return len(indent) // step


def indent_of(line: str) -> str:
    """Return the spaces and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


_LONGEST = 160


class PatchRefused(ToolException):
    """The patch cannot be applied, and nothing was changed."""


def quote_line(text: str) -> str:
    """Quote a line so that its spaces are visible, cut if it is long."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"`{shown}`"

"""Indentation of added lines, where the patch is indented differently from the file."""

from collections.abc import Iterable

from sidecall.features.file_tools.patching.refusal import PatchRefused


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

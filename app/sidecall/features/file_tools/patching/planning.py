"""Plan the changes of a patch completely before any file is changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sidecall.features.file_tools.patching.applying import apply_hunks
from sidecall.features.file_tools.patching.envelope import FilePatch
from sidecall.features.file_tools.patching.refusal import PatchRefused

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

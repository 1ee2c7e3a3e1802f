"""Show texts and folders as models are used to reading them."""

from collections import Counter
from collections.abc import Callable

from sidecall.features.file_tools.editing.reading import Passage
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException

_MOST_LINES = 999_999
_WIDTH = 6
_LEVELS = 2
_UNITS = "KMG"
_CARRIAGE = "\r"
# Folders that lists leave out.
SKIPPED = frozenset((".git", "node_modules", "__pycache__"))


def number_passage(passage: Passage) -> str:
    """Number lines as `cat -n` does.

    Raises:
        ToolException: There are too many lines.
    """
    lines = passage.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if passage.first + len(lines) - 1 > _MOST_LINES:
        raise ToolException(f"The file exceeds the limit of {_MOST_LINES:,} lines.")
    return "\n".join(
        f"{number:>{_WIDTH}}\t{line.removesuffix(_CARRIAGE)}" for number, line in enumerate(lines, passage.first)
    )


def cut_snippet(text: str, first: int, last: int, around: int) -> str:
    """Return lines of a text, counted from 0, with their surroundings and numbers."""
    lines = text.split("\n")
    start = max(0, first - around)
    return number_passage(Passage("\n".join(lines[start : last + around + 1]), start + 1))


def list_folder(workspace: Workspace, path: str, name: Callable[[str], str] = str) -> str:
    """List a folder two levels deep, without hidden names, each with its total size.

    Args:
        workspace: The workspace.
        path: The path of the folder.
        name: Its name in paths for the model.

    Raises:
        ToolException: There is no such folder.
    """
    top = workspace.look_at(path)
    sizes: Counter[str] = Counter()
    shown = []
    for entry in workspace.walk(path):
        below = entry.path[len(top.path) + 1 :].split("/")
        sizes.update({top.path: entry.size})
        sizes.update({"/".join([top.path, *below[:level]]): entry.size for level in range(1, len(below) + 1)})
        if len(below) <= _LEVELS and not any(part.startswith(".") or part in SKIPPED for part in below):
            shown.append(entry)
    head = f"Here're the files and directories up to {_LEVELS} levels deep in {name(top.path)}, excluding hidden items:"
    lines = [f"{write_short(sizes[top.path])}\t{name(top.path)}"]
    lines += [f"{write_short(sizes[it.path])}\t{name(it.path)}{'/' if it.is_folder else ''}" for it in shown]
    return "\n".join([head, *lines])


def write_short(size: int) -> str:
    """Write a number of bytes as `du -h` does: 0B, 512B, 1.5K, 3M."""
    value = float(size)
    unit = "B"
    for larger in _UNITS:
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f}{unit}" if value == int(value) else f"{value:.1f}{unit}"

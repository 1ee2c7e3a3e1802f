"""Find files by their names, and lines by what they say."""

import io
import os
import re
import time
from collections.abc import Callable, Iterator

from pydantic_core import SchemaError, SchemaValidator, core_schema

from sidecall.compiler.pattern_size import measure_growth
from sidecall.features.workspaces.entries import Entry
from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException

MOST_FOUND = 200

MOST_OUTPUT = 100 * 1024

MOST_LINE = 2000

MOST_SEEN = 50_000

MOST_SECONDS = 30.0

_PIECE = 64 * 1024

_HEAD = 512
# Folders that are not searched unless they are named.
_PASSED_BY = frozenset((".git", "node_modules"))


def walk_files(workspace: Workspace, path: str) -> Iterator[Entry]:
    """Go through a folder and all below it but what belongs to tools, or give the one file that is named."""
    top = workspace.look_at(path)
    if not top.is_folder:
        yield top
        return
    waiting, seen = [top.path], 0
    while waiting and seen <= MOST_SEEN:
        try:
            entries = workspace.list_entries(waiting.pop(), hidden=True)
        except WorkspaceError:  # It has gone, or may not be read.
            continue
        for entry in entries:
            seen += 1
            yield entry
        waiting += [it.path for it in reversed(entries) if it.is_folder and it.name not in _PASSED_BY]


def find_by_name(workspace: Workspace, pattern: str, path: str) -> str:
    """List files and folders whose paths match a pattern, most recently changed first.

    Raises:
        ToolException: There is no such folder, or the pattern is invalid.
    """
    matches = compile_glob(pattern)
    top = workspace.look_at(path)
    if not top.is_folder:
        raise ToolException(f"{top.path} is a file. Name a folder in `path`.")
    start = len(top.path) + 1
    found = sorted(
        (entry for entry in walk_files(workspace, path) if matches(entry.path[start:])),
        key=lambda entry: (-entry.modified, entry.path),
    )
    lines = [f"{entry.path}/" if entry.is_folder else entry.path for entry in found[:MOST_FOUND]]
    if len(found) > MOST_FOUND:
        lines.append(f"[{len(found) - MOST_FOUND} more files match; use a narrower pattern]")
    return "\n".join(lines) or "no matches"


def find_by_text(workspace: Workspace, pattern: str, path: str, clock: Callable[[], float] = time.monotonic) -> str:
    """List the lines that have a match for a regular expression, as `path:number:line`.

    Raises:
        ToolException: There is no such folder, the pattern is invalid, or the search takes too long.
    """
    matches = compile_pattern(pattern)
    deadline = clock() + MOST_SECONDS
    found: list[str] = []
    room = MOST_OUTPUT
    for entry in walk_files(workspace, path):
        if entry.is_folder:
            continue
        for number, line in _read_lines(workspace, entry.path):
            if clock() > deadline:
                raise ToolException(f"The search took longer than {MOST_SECONDS:.0f} seconds. Name a smaller folder.")
            if matches(line):
                found.append(f"{entry.path}:{number}:{line}")
                room -= len(found[-1].encode()) + 1
                if room < 0:
                    found[-1] = f"[output truncated at {MOST_OUTPUT} bytes]"
                    return "\n".join(found)
    return "\n".join(found) or "no matches"


def _read_lines(workspace: Workspace, path: str) -> Iterator[tuple[int, str]]:
    """Read the lines of a text and their numbers, without those that are very long; nothing of other files."""
    try:
        opened = workspace.open(path, os.O_RDONLY)
    except WorkspaceError:  # It has gone, or may not be read.
        return
    with io.BufferedReader(io.FileIO(opened), _PIECE) as file:
        if b"\0" in file.peek(_HEAD)[:_HEAD]:
            return
        number = 0
        while line := file.readline(MOST_LINE + 2):
            number += 1
            if line.endswith(b"\n") or len(line) < MOST_LINE + 2:
                yield number, line.rstrip(b"\r\n").decode(errors="replace")
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(_PIECE)


#: Most characters of a pattern, and by how many more its counted repetitions and Unicode classes make it.
MOST_PATTERN, MOST_GROWTH = 1000, 250


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Compile a regular expression into a test for lines.

    The engine is Rust's, which pydantic includes. It never backtracks, but all threads wait for each line, for as long
    as the line and the pattern's repetitions are. The syntax is ripgrep's, without lookarounds and backreferences.

    Raises:
        ToolException: The pattern is invalid.
    """
    if len(pattern) > MOST_PATTERN:
        raise ToolException(f"The pattern is too long: it may have {MOST_PATTERN} characters.")
    if measure_growth(pattern) > MOST_GROWTH:
        text = f"The pattern is too large: its repetitions and classes may add {MOST_GROWTH} characters."
        raise ToolException(f"{text} Use `*` or `+`, or smaller counts.")
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        reason = str(error).rpartition("error: ")[2].strip()
        raise ToolException(f"The pattern is no regular expression: {reason}.") from None
    return validator.isinstance_python


def compile_glob(pattern: str) -> Callable[[str], bool]:
    """Compile a glob such as `src/**/*.py` into a test for paths relative to the searched folder.

    Raises:
        ToolException: The pattern leads out of the folder, or is invalid.
    """
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.startswith("/"):
        raise ToolException("The pattern must be relative, such as **/*.py; name a folder in `path`.")
    if ".." in parts or not parts:
        raise ToolException("The pattern must name files below the folder, such as **/*.py, and have no `..`.")
    written = []
    for part, is_last in zip(parts, [False] * (len(parts) - 1) + [True], strict=True):
        if part == "**":
            written.append(".*" if is_last else "(?:[^/]+/)*")
        else:
            written.append(_write_part(part) + ("" if is_last else "/"))
    return compile_pattern(f"(?s)\\A{''.join(written)}\\z")


_PIECES = re.compile(r"\*+|\?|\[!?\]?[^\]]*\]|[{},]|.", re.S)

# Characters with another meaning in a class of Rust's.
_SPECIAL = re.compile(r"[\[\]^&~\\]")


def _write_part(part: str) -> str:
    depth = 0
    written = []
    can_choose = part.count("{") == part.count("}")
    for piece in _PIECES.findall(part):
        if piece[0] == "*":
            written.append("[^/]*")
        elif piece == "?":
            written.append("[^/]")
        elif piece[0] == "[" and len(piece) > 2:
            written.append(_write_class(piece))
        elif piece == "{" and can_choose:
            depth += 1
            written.append("(?:")
        elif piece == "}" and depth:
            depth -= 1
            written.append(")")
        elif piece == "," and depth:
            written.append("|")
        else:
            written.append(re.escape(piece))
    return "".join(written) + ")" * depth


def _write_class(piece: str) -> str:
    inner = piece[1:-1]
    sign = "^" if inner.startswith("!") else ""
    return f"[{sign}{_SPECIAL.sub(_escape, inner.removeprefix('!'))}]"


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"

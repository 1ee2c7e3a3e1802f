"""Patterns from a model, matched in time linear in the text."""

import re
from collections.abc import Callable

from pydantic_core import SchemaError, SchemaValidator, core_schema

from sidecall.kernel.core.errors import ToolException

#: Most characters of a pattern.
MOST_PATTERN = 1000


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Compile a regular expression into a test for lines.

    The engine is Rust's, which pydantic includes. It never backtracks, so no pattern can block it; the syntax is
    ripgrep's, without lookarounds and backreferences.

    Raises:
        ToolException: The pattern is invalid.
    """
    if len(pattern) > MOST_PATTERN:
        raise ToolException(f"The pattern is too long: it may have {MOST_PATTERN} characters.")
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        reason = str(error).rpartition("error: ")[2].strip()
        if "size limit" in reason:
            reason = "it is too large; use smaller repetitions"
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

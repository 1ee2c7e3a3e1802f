"""Join wrapped lines of a docstring."""

import re

# What begins a line that stands on its own: an item, a heading, a row, a quotation, a prompt, `name: meaning`, markup.
_OWN_LINE = re.compile(r"[-*+•>|#:@]|\d+[.)]\s|\.\.\s|[\w`'\"*]+(?: \([^)]*\))?:(?:\s|$)|```|~~~|={3,}|<")
_ITEM = re.compile(r"([-*+•]|\d+[.)])\s+")
_FENCE = ("```", "~~~")


def join_sentences(text: str) -> str:
    """Join wrapped lines; keep paragraphs, lists, tables and code."""
    if "\n" not in text:
        return text
    lines: list[str] = []
    depth: int | None = 0  # How far a line that goes on is indented; None after what nothing goes on from.
    is_code = False
    for line in text.split("\n"):
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        is_fence = bare.startswith(_FENCE)
        goes_on = bool(lines) and depth == indent and not _OWN_LINE.match(bare) and _may_go_on(lines[-1])
        if bare and goes_on and not is_code and not is_fence:
            lines[-1] = f"{lines[-1]} {bare}"
            continue
        lines.append(line)
        is_code ^= is_fence
        depth = None if is_code or is_fence else _find_depth(bare, indent)
    return "\n".join(lines)


def _may_go_on(line: str) -> bool:
    """Return whether a line may be wrapped: not blank, no heading, no intended line break."""
    return bool(line.strip()) and not line.endswith((":", "  ", "\\"))


def _find_depth(bare: str, indent: int) -> int | None:
    """Return the indentation of a sentence's continuation lines."""
    item = _ITEM.match(bare)
    if item:
        return indent + item.end()
    return None if indent or _OWN_LINE.match(bare) else 0

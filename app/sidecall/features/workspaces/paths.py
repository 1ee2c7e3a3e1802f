"""Paths as models write them: `/workspace/a/b` and `a/b` are the same."""

import unicodedata

from sidecall.features.workspaces.errors import WorkspaceError

#: What a model takes for the folder's place.
HOME = "/workspace"
#: Added to errors about paths that lead elsewhere.
EXAMPLE = f"{HOME}/notes.txt"
MOST_BYTES = 4096
MOST_NAME_BYTES = 255
#: Maximum depth of folders; deeper entries are not counted, and only programs make them.
MOST_LEVELS = 200
#: The prefix of names of files that are being written.
UNFINISHED = ".sidecall-"
# Control characters, lone surrogates, and characters that break lines or change the text direction.
_CATEGORIES = frozenset(("Cc", "Cs", "Zl", "Zp"))
_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def split_path(path: str) -> tuple[str, ...]:
    """Split a path into names; none for the workspace itself.

    Raises:
        WorkspaceError: It leads elsewhere, or has invalid names.
    """
    if len(path) > MOST_BYTES or len(path.encode(errors="replace")) > MOST_BYTES:
        raise _refuse(f"The path is too long: it may have {MOST_BYTES} bytes.")
    if not path.isascii() or not path.isprintable():
        _require_plain(path)
    parts = path.split("/")
    if path.startswith("/"):
        if parts[1] != HOME[1:]:
            raise _refuse(f"Only files in {HOME} can be reached. Use a path such as {EXAMPLE}.")
        parts = parts[2:]
    names = tuple(part for part in parts if part not in ("", "."))
    if len(names) > MOST_LEVELS:
        raise _refuse(f"The path leads through too many folders: it may have {MOST_LEVELS} names.")
    for name in names:
        _require_name(name)
    return names


def join_path(parts: tuple[str, ...]) -> str:
    """Write a path as models and programs read it."""
    return "/".join((HOME, *parts))


def has_no_controls(name: str) -> bool:
    """Return whether a name is one that paths may have."""
    return all(unicodedata.category(it) not in _CATEGORIES and it not in _TURNING for it in name)


def _require_plain(path: str) -> None:
    if not has_no_controls(path):
        raise _refuse("The path must not contain control characters.")


def _require_name(name: str) -> None:
    if name == "..":
        raise _refuse(f"The path must not contain `..`. Write the whole path, such as {EXAMPLE}.")
    if len(name) > MOST_NAME_BYTES // 4 and len(name.encode()) > MOST_NAME_BYTES:
        raise _refuse(f"A name in the path is too long: it may have {MOST_NAME_BYTES} bytes.")
    if name.startswith(UNFINISHED):
        raise _refuse(f"Names must not begin with `{UNFINISHED}`.")


def _refuse(text: str) -> WorkspaceError:
    return WorkspaceError("refused", text)

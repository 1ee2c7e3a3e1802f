"""Find files with tools in subfolders, which are not searched."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from sidecall.kernel.schema.lint import Finding
from sidecall.loading.discovery import resolve_place

# Deeper, and beyond so many, lies something else than tools.
_MOST_FILES = 500
_DEPTH = 4
_MAKES_TOOLS = re.compile(
    r"^\s*from\s+(?:sidecall|langchain(?:_core)?(?:\.tools)?|agents)\s+import\s+(?:\([^)]*?|[^\n(]*?)"
    r"\b(?:tool|BaseTool|StructuredTool|function_tool|BaseToolkit|Tool)\b"
    r"|^\s*@sidecall\.tool\b",
    re.MULTILINE,
)


def find_unread(places: Iterable[str]) -> list[Finding]:
    """List the files in these folders that import tool decorators or classes, and were not loaded."""
    folders = [path for place in places if (path := Path(resolve_place(place)).resolve()).is_dir()]
    loaded = {os.path.realpath(file) for it in list(sys.modules.values()) if (file := getattr(it, "__file__", None))}
    found = {file: None for folder in folders for file in _list_below(folder) if str(file) not in loaded}
    return [_make_finding(file) for file in found if _makes_tools(file)]


def _make_finding(file: Path) -> Finding:
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    text = f"is not looked at: of a folder, the files directly in it are. Name its folder, too: --tools {shown.parent}"
    return Finding(str(shown), "warning", text)


def _list_below(folder: Path) -> Iterator[Path]:
    """List public files in subfolders."""
    left = _MOST_FILES
    for name, folders, files in os.walk(folder):
        here = Path(name)
        depth = len(here.relative_to(folder).parts)
        folders[:] = sorted(it for it in folders if depth < _DEPTH and _is_public(it) and not _is_foreign(here / it))
        for file in sorted(files) if depth else ():
            left -= 1
            if left < 0:
                return
            if file.endswith(".py") and _is_public(file):
                yield here / file


def _is_public(name: str) -> bool:
    return not name.startswith((".", "_", "test_", "conftest")) and name not in ("tests", "node_modules")


def _is_foreign(folder: Path) -> bool:
    return folder.name in ("site-packages", "dist-packages") or (folder / "pyvenv.cfg").exists()


def _makes_tools(file: Path) -> bool:
    try:
        return _MAKES_TOOLS.search(file.read_text()) is not None
    except (OSError, ValueError):
        return False

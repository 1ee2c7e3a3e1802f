"""Keep the code of a project's modules as it was loaded, even if the files change."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
# Python's own, and ours.
_OURS = __file__.removesuffix(os.path.join("loading", "modules", "source_snapshot.py"))
_NOT_OF_PROJECTS = (os.path.join(os.path.dirname(os.__file__), ""), _OURS)


class KeepingLoader(SourceFileLoader):
    """Loads a file, and keeps its code."""

    def __init__(self, fullname: str, path: str, code: CodeType | None = None) -> None:
        """Load code that was kept elsewhere, if given, instead of reading the file."""
        super().__init__(fullname, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code; the file is read once."""
        if self._code is None:
            self._code = super().get_code(fullname)
        return self._code


class _ProjectFinder(MetaPathFinder):
    """Finds modules like Python, and keeps the code of a project's modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin and type(spec.loader) is SourceFileLoader and _is_of_project(spec.origin):
            spec.loader = KeepingLoader(fullname, spec.origin)
        return spec


def keep_project_code() -> None:
    """Keep the code of project modules from now on: those neither installed, nor of Python, nor ours."""
    if not any(isinstance(finder, _ProjectFinder) for finder in sys.meta_path):
        # In front of the finder that it asks itself, and behind all others: they may load files in their own ways.
        place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
        sys.meta_path.insert(place, _ProjectFinder())


def code_of(module: ModuleType) -> CodeType | None:
    """Return the code from which a project's module was loaded, or None.

    For modules loaded before, it is read from the current file.
    """
    spec: Any = vars(module).get("__spec__")
    loader: Any = getattr(spec, "loader", None)
    is_kept = isinstance(loader, KeepingLoader)
    if is_kept or (type(loader) is SourceFileLoader and _is_of_project(loader.path)):
        try:
            code: CodeType | None = loader.get_code(spec.name)
        except (OSError, SyntaxError, ValueError):  # It is gone, or broken.
            return None
        return code
    return None


def _is_of_project(file: str) -> bool:
    # With texts rather than paths, since every import passes here.
    return not file.startswith(_NOT_OF_PROJECTS) and not any(mark in file for mark in _INSTALLED)

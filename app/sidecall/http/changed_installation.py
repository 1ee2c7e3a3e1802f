"""Load our own modules while serving, and turn failures that pass or need an operator into refusals.

A late import may find the process out of files, or an installation that was moved, removed or upgraded since the start;
modules of two versions must not be mixed. All imports, also `import` statements, go through this finder.
"""

import logging
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from sidecall.http.application import find_shortage
from sidecall.kernel.core.overload import PartUnavailable

logger = logging.getLogger("sidecall")

_PACKAGE = f"{__name__.partition('.')[0]}."
_CHANGED = "The installation has changed since the server started; restart it."
# Seconds; a person has to do something first.
_PATIENCE = 60


class InstallationGuard(MetaPathFinder):
    """Finds our own modules; one that cannot be loaded now becomes an error that clients may retry."""

    def __init__(self, place: Path) -> None:
        """Watch a file that every version of the package rewrites."""
        self._place = place
        self._at_start = self._read_mark()
        self._was_refused = False

    @property
    def trouble(self) -> str | None:
        """Why a requested module cannot be loaded until a restart; None if all can."""
        return _CHANGED if self._was_refused and self._has_changed() else None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of our modules; others are left to Python.

        Raises:
            PartUnavailable: The installation is another, or files have run out.
        """
        if not fullname.startswith(_PACKAGE):
            return None
        if self._has_changed():
            raise self._refuse(fullname)
        try:
            spec = PathFinder.find_spec(fullname, path, target)
        except OSError as error:
            _raise_for(error)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _LateLoader(spec.loader.name, spec.loader.path)
        return spec

    def explain(self, error: BaseException) -> PartUnavailable | None:
        """Return what clients are told when a part could not be loaded for these reasons; None for other errors.

        Libraries are loaded late too, and are missing if a whole environment was removed.
        """
        if isinstance(error, ImportError) and self._has_changed():
            return self._refuse(error.name or "a library")
        return find_shortage(error)

    def _has_changed(self) -> bool:
        """Return whether the installation has changed; without a file to check, it counts as unchanged."""
        has_changed = self._at_start is not None and self._read_mark() != self._at_start
        if not has_changed:
            self._was_refused = False
        return has_changed

    def _read_mark(self) -> tuple[int, int, int] | None:
        try:
            found = self._place.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _refuse(self, name: str) -> PartUnavailable:
        if not self._was_refused:
            self._was_refused = True
            logger.error("%s cannot be loaded. %s", name, _CHANGED)
        return PartUnavailable(_CHANGED, retry_after=_PATIENCE)


class _LateLoader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Execute a module; its own imports may also run out of files."""
        count = len(sys.modules)
        try:
            super().exec_module(module)
        except (OSError, ImportError) as error:
            _forget_parts([*sys.modules][count:])
            _raise_for(error)


def _raise_for(error: OSError | ImportError) -> None:
    shortage = find_shortage(error)
    raise error if shortage is None else shortage from error


def _forget_parts(names: Iterable[str]) -> None:
    """Remove those of these modules whose package Python has removed after a failed import.

    Otherwise Python would not bind them in the package again, as `package.module`. C extensions stay, since some can be
    loaded only once.
    """
    for name in names:
        parent = name.rpartition(".")[0]
        loader = getattr(getattr(sys.modules.get(name), "__spec__", None), "loader", None)
        if parent and parent not in sys.modules and not isinstance(loader, ExtensionFileLoader):
            sys.modules.pop(name, None)


INSTALLATION = InstallationGuard(Path(__file__).parents[1] / "version.py")


def guard_installation() -> None:
    """Install the finder for our own modules."""
    if INSTALLATION not in sys.meta_path:
        sys.meta_path.insert(0, INSTALLATION)

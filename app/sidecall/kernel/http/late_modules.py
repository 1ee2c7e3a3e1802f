"""Modules of this package that are loaded while it serves: what keeps them from it passes, or needs an operator.

What is loaded late may meet a moment without files, or an installation that was moved, removed or upgraded since the
start. It must not mix modules of two versions. All ways to load, down to the statement `import`, ask this finder.
"""

import logging
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from sidecall.kernel.core.overload import PartUnavailable
from sidecall.kernel.http.system_refusals import find_shortage

logger = logging.getLogger("sidecall")

_PACKAGE = f"{__name__.partition('.')[0]}."
_CHANGED = "The installation has changed since the server started; restart it."
# Seconds; a person has to do something first.
_PATIENCE = 60


class LateModules(MetaPathFinder):
    """Find our own modules as Python does, and say what keeps one from being loaded so that clients come again."""

    def __init__(self, place: Path) -> None:
        """Look at a file that every version of the package writes anew."""
        self._place = place
        self._at_start = self._read_mark()
        self._was_refused = False

    @property
    def trouble(self) -> str | None:
        """Why some of them cannot be loaded until a restart, once one was asked for; None when they can."""
        return _CHANGED if self._was_refused and self._has_changed() else None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of our modules; all others are left to Python.

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
        """Return what clients are told where a part could not be loaded for these reasons; None for other errors.

        Libraries are loaded late, too, and are missing where a whole environment was removed.
        """
        if isinstance(error, ImportError) and self._has_changed():
            return self._refuse(error.name or "a library")
        return find_shortage(error)

    def _has_changed(self) -> bool:
        """Look; without a file that could be looked at, as in an archive, nothing is known, and nothing refused."""
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
        """Run a module; what it imports of others may be short of files, too."""
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
    """Forget those of these modules whose package Python has forgotten, since it could not be loaded as a whole.

    It would not put them into the package again, as `package.module`, where that is what the package itself needs.
    Those in C are left, since some can be loaded only once.
    """
    for name in names:
        parent = name.rpartition(".")[0]
        loader = getattr(getattr(sys.modules.get(name), "__spec__", None), "loader", None)
        if parent and parent not in sys.modules and not isinstance(loader, ExtensionFileLoader):
            sys.modules.pop(name, None)


LATE_MODULES = LateModules(Path(__file__).parents[2] / "version.py")


def watch_late_modules() -> None:
    """Let our own modules be found with care from now on."""
    if LATE_MODULES not in sys.meta_path:
        sys.meta_path.insert(0, LATE_MODULES)

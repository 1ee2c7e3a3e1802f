"""Imports between the files of a tool folder, by relative or plain name, isolated from other folders."""

import builtins
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

from sidecall.loading.modules.source_snapshot import KeepingLoader

# What a finder knows, in plain values.
FolderState = tuple[list[tuple[str, str]], list[tuple[str, str, bool]], list[str]]

_INSTALLED = frozenset(("site-packages", "dist-packages"))


class ToolFolders(MetaPathFinder):
    """Finds the modules in tool folders, and lets them import their neighbours.

    No folder goes on `sys.path`, where one folder's `_shared` would be another's. Instead a plain name next to the
    importing file is imported as part of that file's package. Nothing is shadowed: the standard library and installed
    packages come first.
    """

    def __init__(self) -> None:
        self._folders: set[tuple[str, Path]] = set()
        self._beside: dict[tuple[Path, str], bool] = {}
        self._offering: dict[str, None] = {}

    @property
    def offering(self) -> list[str]:
        """The modules or objects that were asked for tools, in order, written as entry points."""
        return list(self._offering)

    def note_offering(self, name: str) -> None:
        """Record that this was asked for tools."""
        self._offering[name] = None

    def forget_offering(self) -> None:
        """Clear that list before tools are discovered again."""
        self._offering.clear()

    @property
    def state(self) -> FolderState:
        """The state, for another process or for later."""
        folders = [(package, str(folder)) for package, folder in self._folders]
        return folders, [(str(folder), name, known) for (folder, name), known in self._beside.items()], self.offering

    def restore(self, state: FolderState) -> None:
        """Replace the state by this one."""
        folders, beside, offering = state
        self._folders = {(package, Path(folder)) for package, folder in folders}
        self._beside = {(Path(folder), name): known for folder, name, known in beside}
        self._offering = dict.fromkeys(offering)

    def add(self, package: str, folder: Path) -> None:
        """Register a folder whose files are parts of this package; an empty name means no package."""
        self._folders.add((package, folder))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of an added folder; others are left to Python."""
        candidates = [pair for pair in self._folders if _is_in(fullname, pair[0])]
        spec = PathFinder.find_spec(fullname, path, target) if candidates else None
        if spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
            return None
        file = Path(spec.origin).resolve()
        holding = [(package, folder) for package, folder in candidates if _holds(folder, file, package)]
        if not holding:
            return None
        spec.loader = self.loader(fullname, file, *max(holding))
        return spec

    def loader(
        self, fullname: str, file: Path, package: str, folder: Path, code: CodeType | None = None
    ) -> "SiblingLoader":
        """Return a loader for a file of a folder, or for its kept code."""
        around = []
        parent = fullname if file.name == "__init__.py" else fullname.rpartition(".")[0]
        place = file.parent
        while package and _is_in(parent, package):
            around.append((parent, place))
            parent, place = parent.rpartition(".")[0], place.parent
        loader = SiblingLoader(fullname, str(file), code)
        loader.home = package, folder
        loader.imports = _Import(self, tuple(around), folder)
        return loader

    def invalidate_caches(self) -> None:
        """Clear the cache of files."""
        self._beside.clear()

    def is_beside(self, folder: Path, name: str) -> bool:
        """Return whether a plain name is a module in this folder."""
        key = (folder, name)
        if key not in self._beside:
            self._beside[key] = _is_module(folder, name) and self._is_free(name)
        return self._beside[key]

    def _is_free(self, name: str) -> bool:
        """Return whether only the project or another tool folder has a module of this name."""
        if name in sys.stdlib_module_names or name == __name__.partition(".")[0]:
            return False
        try:
            spec = importlib.util.find_spec(name)
        except ValueError:  # A module that was made, not found by a finder.
            return False
        if spec is None:
            return True
        places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
        return all(self._is_of_project(Path(place).resolve()) for place in places)

    def _is_of_project(self, place: Path) -> bool:
        homes = [folder for _, folder in self._folders]
        is_own = place.is_relative_to(Path.cwd().resolve()) and _INSTALLED.isdisjoint(place.parts)
        return is_own or any(place.is_relative_to(home) for home in homes)


class SiblingLoader(KeepingLoader):
    """Loads a file with its own import function; its home is a package and the folder behind it."""

    home: tuple[str, Path]
    imports: "_Import"

    def exec_module(self, module: ModuleType) -> None:
        """Execute the file; `import` in it uses `__import__` of these built-ins, as Python's reference says."""
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": self.imports}
        super().exec_module(module)


class _Import:
    """The import function of one file: Python's, plus its neighbours."""

    def __init__(self, folders: ToolFolders, around: Sequence[tuple[str, Path]], top: Path) -> None:
        """Set the packages that contain the file, the nearest first; without one, its folder."""
        self._folders = folders
        self._around = around
        self._top = top

    def __call__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """Run an `import` statement; the parameters are those of `builtins.__import__`."""
        head = name.partition(".")[0]
        if level == 0:
            for package, folder in self._around:
                if self._folders.is_beside(folder, head):
                    # Found from the package, its own parts are what a relative import asks for.
                    place = {"__package__": package, "__spec__": ModuleSpec(f"{package}.{head}", None)}
                    return builtins.__import__(name, place, locals, fromlist or (), 1)
        elif level == 1 and not self._around:
            names = [head] if head else fromlist or ()
            if all(self._folders.is_beside(self._top, it) for it in names):
                level = 0
            if level == 0 and not name:
                return SimpleNamespace(**{it: import_module(it) for it in names})
        return builtins.__import__(name, globals, locals, fromlist or (), level)


def tool_folders() -> ToolFolders:
    """Return this process's finder for tool folders."""
    for finder in sys.meta_path:
        if isinstance(finder, ToolFolders):
            return finder
    finder = ToolFolders()
    sys.meta_path.insert(0, finder)
    return finder


def _is_in(fullname: str, package: str) -> bool:
    return f"{fullname}.".startswith(f"{package}.") if package else "." not in fullname


def _holds(folder: Path, file: Path, package: str) -> bool:
    return folder in file.parents if package else folder == file.parent


def _is_module(folder: Path, name: str) -> bool:
    inside = folder / name
    return (folder / f"{name}.py").is_file() or (inside.is_dir() and any(inside.glob("*.py")))

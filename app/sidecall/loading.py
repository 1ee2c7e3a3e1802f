"""Load Python modules by path or by name, and load them again when their files change."""

import importlib
import importlib.util
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from sidecall.core.errors import DefinitionError, DiscoveryError


def load_file(path: Path) -> ModuleType:
    """Load a file under its dotted name, so that its own imports work.

    The folder above goes to the end of `sys.path`: what lies beside the file can be imported, and shadows nothing.
    When the name already means another module, the file is loaded under an alias.

    Raises:
        DefinitionError: The file's code raised.
    """
    if path.suffix != ".py":
        raise DiscoveryError(f"{path} is not a Python file.")
    parts, root = _dotted(path)
    if str(root) not in sys.path:
        sys.path.append(str(root))
    try:
        if _origin(".".join(parts)) == path:
            return importlib.import_module(".".join(parts))
        return importlib.import_module(".".join((_alias(root, parts[0]), *parts[1:])))
    except (Exception, SystemExit) as error:
        raise _broken(str(path), error) from error


def load_named(name: str) -> Iterator[ModuleType]:
    """Load a module, or a package and the public modules directly in it.

    Raises:
        DefinitionError: There is no such module, or its code raised.
    """
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            text = f"There is no module, file or folder {name!r}. Give a path such as ./my_tools.py, or install it."
            raise DiscoveryError(text) from error
        raise _broken(name, error) from error
    yield module
    for folder in getattr(module, "__path__", ()):
        yield from (load_file(path) for path in public_files(Path(folder)))


def public_files(folder: Path) -> list[Path]:
    """List the modules and packages in a folder, in order; tests and names with an underscore are left alone."""
    files = [path / "__init__.py" if path.is_dir() else path for path in sorted(folder.iterdir())]
    return [file for file in files if file.suffix == ".py" and file.is_file() and _is_public(file)]


def _is_public(file: Path) -> bool:
    name = file.parent.name if file.name == "__init__.py" else file.stem
    return not name.startswith(("_", "test_", "conftest")) and name != "tests"


def _dotted(path: Path) -> tuple[list[str], Path]:
    """Split a file into the parts of its dotted name and the folder that has to be importable."""
    folder = path.parent
    parts = [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return parts, folder


def _origin(name: str) -> Path | None:
    """Say which file a plain import of this name loads."""
    try:
        spec = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):
        return None
    return Path(spec.origin).resolve() if spec is not None and spec.origin else None


def _alias(root: Path, name: str) -> str:
    """Load a top-level module or package under a name that nothing else has."""
    folder = root / name
    is_package = (folder / "__init__.py").is_file()
    file = folder / "__init__.py" if is_package else root / f"{name}.py"
    alias = f"sidecall_{zlib.crc32(str(file).encode()):08x}_{name}"
    if alias in sys.modules:
        return alias
    spec = importlib.util.spec_from_file_location(
        alias, file, submodule_search_locations=[str(folder)] if is_package else None
    )
    assert spec is not None
    assert spec.loader is not None  # since the file ends in .py
    module = sys.modules[alias] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[alias]
        raise
    return alias


def _broken(place: str, error: BaseException) -> DefinitionError:
    if isinstance(error, DefinitionError):
        return error
    line = f":{error.lineno}" if isinstance(error, SyntaxError) else _line_in(place, error)
    return DiscoveryError(f"{place}{line} cannot be loaded: {type(error).__name__}: {error}")


def _line_in(place: str, error: BaseException) -> str:
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == place:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f":{lines[-1]}" if lines else ""


@contextmanager
def reloaded(folders: list[Path]) -> Iterator[None]:
    """Forget the modules of these folders, so that the body loads them afresh; if it raises, the old ones stay."""
    old = {name: module for name, module in sys.modules.items() if _lies_in(module, name, folders)}
    for name, module in old.items():
        del sys.modules[name]
        # Compiled files are told apart by size and by whole seconds, too coarse for somebody who saves twice.
        Path(importlib.util.cache_from_source(str(module.__file__))).unlink(missing_ok=True)
    importlib.invalidate_caches()
    try:
        yield
    except BaseException:
        sys.modules.update(old)
        raise


def _lies_in(module: ModuleType, name: str, folders: list[Path]) -> bool:
    file = getattr(module, "__file__", None)
    # Sidecall's own classes must stay the same objects, in a checkout whose folder is watched too.
    if not file or name == "__main__" or name.partition(".")[0] == __name__.partition(".")[0]:
        return False
    path = Path(file).resolve()
    return any(folder in path.parents for folder in folders) and "site-packages" not in path.parts

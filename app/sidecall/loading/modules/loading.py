"""Load Python modules by path or name, and reload them when their files change."""

import importlib
import importlib.util
import os
import sys
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from operator import attrgetter
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, NoReturn

from sidecall.kernel.core.errors import DefinitionError, DiscoveryError, SidecallError
from sidecall.loading.modules.import_path import is_on_path, put_project
from sidecall.loading.modules.source_snapshot import keep_project_code
from sidecall.loading.modules.tool_imports import tool_folders


class ExitRefused(SidecallError):
    """The code of a tool wanted to end the process while it was loaded."""


@contextmanager
def refuse_exits() -> Iterator[None]:
    """Make `os._exit` raise in the body, in this thread and process, to report which file called it.

    It cannot be caught otherwise, since it runs no clean-up. It works as usual in forked processes, in other threads,
    and for references taken earlier, as in Sidecall's own signal handlers.

    Raises:
        ExitRefused: From `os._exit`, in the body.
    """
    leave, here = os._exit, (os.getpid(), threading.get_ident())

    def refuse(status: int) -> NoReturn:
        if (os.getpid(), threading.get_ident()) != here:
            leave(status)
        raise ExitRefused(f"os._exit({status}) would end the process without a word")

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = leave


# Modules belong to a process, so that its servers load theirs one after the other.
_LOADING = Lock()


def load_file(path: Path) -> ModuleType:
    """Load a file under its importable name, or else as part of a synthetic package for its folder.

    Either way it may import its neighbours, by relative or plain name.

    Raises:
        DefinitionError: The file's code raised.
    """
    if path.suffix != ".py":
        raise DiscoveryError(f"{path} is not a Python file.")
    add_project()
    try:
        return _import(path)
    except BaseException as error:  # No exception of it may end the server.
        raise _explain(str(path), error) from error


def load_named(name: str) -> Iterator[ModuleType]:
    """Load a module, or a package and the public modules directly in it.

    Raises:
        DefinitionError: There is no such module, or its code raised.
    """
    add_project()
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            text = f"There is no module, file or folder {name!r}. Give a path such as ./my_tools.py, or install it."
            raise DiscoveryError(text) from error
        raise _explain(name, error) from error
    yield module
    for folder in getattr(module, "__path__", ()):
        yield from (load_file(path) for path in public_files(Path(folder)))


@refuse_exits()
def load_again(name: str, file: Path) -> ModuleType:
    """Load the module under which a file was loaded before, in this process or another one.

    Raises:
        DefinitionError: Its code raised.
    """
    try:
        if _find_origin(name) == file.resolve():
            return importlib.import_module(name)
    except BaseException as error:
        raise _explain(str(file), error) from error
    return load_file(file)


@refuse_exits()
def load_offering(written: str) -> Any:
    """Load a module or an object in it, written as `module:name`.

    Raises:
        DefinitionError: It is not there, or its code raised.
    """
    name, _, path = written.partition(":")
    try:
        module = importlib.import_module(name)
        return attrgetter(path)(module) if path else module
    except BaseException as error:
        raise _explain(written, error) from error


def add_project() -> None:
    """Make the working directory importable, as uvicorn and pytest do, and snapshot the project's code."""
    keep_project_code()
    folder = str(Path.cwd())
    if not is_on_path(folder):
        put_project(folder)


def public_files(folder: Path) -> list[Path]:
    """List the modules and packages in a folder, in order, without tests and private names."""
    files = [path / "__init__.py" if path.is_dir() else path for path in sorted(folder.iterdir())]
    return [file for file in files if file.suffix == ".py" and file.is_file() and _is_public(file)]


def _is_public(file: Path) -> bool:
    name = file.parent.name if file.name == "__init__.py" else file.stem
    return not name.startswith(("_", "test_", "conftest")) and name != "tests"


def _import(path: Path) -> ModuleType:
    parts, base = _split(path)
    folders = tool_folders()
    for package in _list_packages(base):
        names = [package, *parts] if package else parts
        if any("." in name for name in names[1:]):
            continue
        # Where no package stands for the folder above, the outermost package is what holds the tools.
        top = (package, base) if package or path.parent == base else (parts[0], base / parts[0])
        folders.add(*top)
        if _find_origin(".".join(names)) == path:
            return importlib.import_module(".".join(names))
    return _import_as_part(_make_stand_in(base), base, path, parts)


def _split(path: Path) -> tuple[list[str], Path]:
    """Split a file's path into its dotted name and the folder above its outermost package."""
    folder = path.parent
    parts = [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return parts, folder


def _list_packages(folder: Path) -> Iterator[str]:
    """List the packages as which a folder is importable, the shortest name first."""
    entries = {Path(entry).resolve() for entry in sys.path}
    above = [entry for entry in entries if entry == folder or entry in folder.parents]
    for entry in sorted(above, key=lambda entry: len(entry.parts), reverse=True):
        parts = folder.relative_to(entry).parts
        if not any("." in part for part in parts):
            yield ".".join(parts)


def _find_origin(name: str) -> Path | None:
    """Return the file that a plain import of this name loads."""
    try:
        spec = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):
        return None
    return Path(spec.origin).resolve() if spec is not None and spec.origin else None


def _make_stand_in(folder: Path) -> str:
    """Make a synthetic package for a folder, under a unique name."""
    mark = f"{zlib.crc32(str(folder).encode()):08x}"
    name = f"{__name__.partition('.')[0]}_{mark}_{folder.name.replace('.', '_')}"
    if name not in sys.modules:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[name] = importlib.util.module_from_spec(spec)
    tool_folders().add(name, folder)
    return name


def _import_as_part(package: str, base: Path, path: Path, parts: list[str]) -> ModuleType:
    name = ".".join((package, *(part.replace(".", "_") for part in parts)))
    if not any("." in part for part in parts) or name in sys.modules:
        return importlib.import_module(name)
    # The name of a script may hold anything.
    loader = tool_folders().loader(name, path, package, base)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _explain(place: str, error: BaseException) -> DefinitionError:
    if isinstance(error, DefinitionError):
        return error
    line = f":{error.lineno}" if isinstance(error, SyntaxError) else _find_line(place, error)
    return DiscoveryError(f"{place}{line} cannot be loaded: {type(error).__name__}: {error}")


def _find_line(place: str, error: BaseException) -> str:
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == place:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f":{lines[-1]}" if lines else ""


@contextmanager
def load_afresh(folders: list[Path]) -> Iterator[None]:
    """Remove the modules of these folders, so that the body reloads them; if it raises, they are restored.

    Only one thread at a time is in such a body.
    """
    with _LOADING:
        yield from _load_afresh(folders)


def _load_afresh(folders: list[Path]) -> Iterator[None]:
    old = {name: module for name, module in [*sys.modules.items()] if _lies_in(module, name, folders)}
    known = tool_folders().state
    tool_folders().forget_offering()
    for name, module in old.items():
        del sys.modules[name]
        # Compiled files are compared by size and whole seconds, too coarse for two quick saves.
        Path(importlib.util.cache_from_source(str(module.__file__))).unlink(missing_ok=True)
    parts = [(names, part, module) for names, part, module in _list_parts(old) if names.get(part) is module]
    for names, part, _ in parts:
        # `from . import part` asks the package first, which stays where it has no file of its own.
        del names[part]
    importlib.invalidate_caches()
    try:
        yield
    except BaseException:
        tool_folders().restore(known)
        sys.modules.update(old)
        for names, part, module in parts:
            names[part] = module
        raise


def _list_parts(modules: Mapping[str, ModuleType]) -> Iterator[tuple[dict[str, Any], str, ModuleType]]:
    for name, module in modules.items():
        package, _, part = name.rpartition(".")
        if package in sys.modules:
            yield vars(sys.modules[package]), part, module


def _lies_in(module: ModuleType, name: str, folders: list[Path]) -> bool:
    file = getattr(module, "__file__", None)
    # Sidecall's own classes must stay the same objects, in a checkout whose folder is watched too.
    if not file or name == "__main__" or name.partition(".")[0] == __name__.partition(".")[0]:
        return False
    path: str = os.path.realpath(file)  # As texts: a server has thousands of modules.
    if f"{os.sep}site-packages{os.sep}" in path:
        return False
    return path.startswith(tuple(f"{folder}{os.sep}" for folder in folders))

"""Send the server's loaded code to tool processes, so that they never load another version."""

import marshal
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from sidecall.loading.modules.source_snapshot import KeepingLoader, code_of
from sidecall.loading.modules.tool_imports import SiblingLoader, tool_folders


class Kept(NamedTuple):
    """One module: its file and code, its search path, and the package and folder of its `SiblingLoader`.

    A namespace package has no file and no code.
    """

    file: str | None
    code: bytes
    parts: list[str] | None
    home: tuple[str, str] | None


def take_code(greeting: bytes = b"") -> bytes:
    """Serialize the code of all loaded project modules, how they were found, and the first message to a process."""
    loaded = {name: module for name, module in [*sys.modules.items()] if isinstance(module, ModuleType)}
    kept = {name: taken for name, module in loaded.items() if (taken := _take(name, module)) is not None}
    for package in {above for name in kept for above in _list_packages_above(name)} & (loaded.keys() - kept.keys()):
        if vars(loaded[package]).get("__file__") is None:
            kept[package] = Kept(None, b"", [*loaded[package].__path__], None)
    return marshal.dumps(({name: tuple(module) for name, module in kept.items()}, tool_folders().state, greeting))


def _take(name: str, module: ModuleType) -> Kept | None:
    spec: Any = vars(module).get("__spec__")
    code = code_of(module) if getattr(spec, "name", None) == name and name != "__main__" else None
    if code is None:
        return None
    loader: Any = spec.loader
    home = (loader.home[0], str(loader.home[1])) if isinstance(loader, SiblingLoader) else None
    parts = spec.submodule_search_locations
    return Kept(loader.path, marshal.dumps(code), None if parts is None else [*parts], home)


def _list_packages_above(name: str) -> Iterator[str]:
    while name := name.rpartition(".")[0]:
        yield name


def restore_code(written: bytes) -> bytes:
    """Import these modules from their kept code, not from the current files; return the first message to a process."""
    kept, state, greeting = marshal.loads(written)  # noqa: S302  the server wrote it
    tool_folders().restore(state)
    # In front of it, which looks at what is on disk.
    sys.meta_path.insert(0, _KeptFinder({name: Kept(*module) for name, module in kept.items()}))
    first: bytes = greeting
    return first


class _KeptFinder(MetaPathFinder):
    """Finds modules whose code was kept."""

    def __init__(self, kept: Mapping[str, Kept]) -> None:
        self._kept = kept

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        found = self._kept.get(fullname)
        if found is None:
            return None
        if found.file is None:
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = found.parts
            return spec
        loader = _make_loader(fullname, found.file, found)
        return spec_from_file_location(fullname, found.file, loader=loader, submodule_search_locations=found.parts)


def _make_loader(fullname: str, file: str, found: Kept) -> KeepingLoader:
    code = marshal.loads(found.code)  # noqa: S302  the server wrote it
    if found.home is None:
        return KeepingLoader(fullname, file, code)
    package, folder = found.home
    return tool_folders().loader(fullname, Path(file), package, Path(folder), code)


def open_code(code: bytes) -> int:
    """Write code to a descriptor that many processes can read at once."""
    fd = os.memfd_create("sidecall-code") if sys.platform == "linux" else _open_file()
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(code)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _open_file() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def read_code(fd: int) -> bytes:
    """Read the code from a shared descriptor, independent of other readers' offsets, and close it."""
    pieces: list[bytes] = []
    with suppress(OSError):
        while piece := os.pread(fd, os.fstat(fd).st_size, sum(map(len, pieces))):
            pieces.append(piece)
    os.close(fd)
    return b"".join(pieces)

"""Search the present files of a folder by words."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sidecall.features.vector_stores.filters import MOST_ATTRIBUTES, Attribute, is_attribute, name_kind
from sidecall.features.vector_stores.index import FileIndex, FoundPiece

MOST_FILES = 20_000
MOST_BYTES_OF_ONE = 4 * 1024 * 1024
MOST_BYTES = 256 * 1024 * 1024
# Suffix of a JSON file with the attributes of the file next to it.
ATTRIBUTES = ".attributes.json"
# Seconds between two scans of the folder.
_FRESH = 5.0
_PAGES = (".html", ".htm", ".xhtml")
_State = tuple[int, int, int]


class IndexedFolder:
    """The texts below a folder; hidden files, links and other files are left out."""

    def __init__(
        self, folder: Path, read_page: Callable[[str], str] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Scan the folder at the first search.

        Args:
            folder: The folder; it may be missing.
            read_page: Converts a web page to text; without it pages are left out.
            clock: The clock for scans, in seconds.
        """
        self._folder = folder
        self._read_page = read_page
        self._clock = clock
        self._index = FileIndex()
        self._known: dict[str, _State] = {}
        self._looked: float | None = None
        self._lock = threading.Lock()

    def search(self, queries: list[str], limit: int = 10, filters: Any = None) -> list[FoundPiece]:
        """Find pieces of files, at most a few seconds old.

        Raises:
            ToolException: The filters are invalid.
        """
        with self._lock:
            now = self._clock()
            if self._looked is None or now - self._looked >= _FRESH:
                self._refresh()
                self._looked = self._clock()
        return self._index.search(queries, limit, filters)

    def close(self) -> None:
        """Release the index."""
        self._index.close()

    def _refresh(self) -> None:
        present = dict(self._list())
        changed = [name for name, state in present.items() if self._known.get(name) != state]
        self._index.remove([*changed, *(name for name in self._known if name not in present)])
        self._index.put(self._read(changed))
        self._known = present

    def _list(self) -> Iterator[tuple[str, _State]]:
        count = size = 0
        for folder, folders, files in os.walk(self._folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                path = os.path.join(folder, name)
                is_none = name.startswith(".") or name.endswith(ATTRIBUTES) or not name_kind(path[-500:])
                if is_none or os.path.islink(path):
                    continue
                try:
                    seen, beside = os.stat(path), _measure(path + ATTRIBUTES)
                except OSError:
                    continue
                count, size = count + 1, size + seen.st_size
                if seen.st_size > MOST_BYTES_OF_ONE or count > MOST_FILES or size > MOST_BYTES:
                    continue
                yield os.path.relpath(path, self._folder), (seen.st_mtime_ns, seen.st_size, beside)

    def _read(self, names: list[str]) -> Iterator[tuple[str, str, Mapping[str, Attribute]]]:
        for name in names:
            path = self._folder / name
            text = self._read_text(path)
            if text is not None:
                seen = {"filename": path.name[:512], "type": path.suffix.lower().lstrip(".")[:512]}
                yield name, text, {**_read_attributes(path), **seen}

    def _read_text(self, path: Path) -> str | None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                body = file.read(MOST_BYTES_OF_ONE)
            text = body.decode()
        except (OSError, UnicodeDecodeError):
            return None
        if "\0" in text:
            return None
        if path.suffix.lower() in _PAGES:
            return None if self._read_page is None else self._read_page(text)
        return text


def _measure(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _read_attributes(path: Path) -> dict[str, Attribute]:
    """Read the attributes of a file; invalid ones are left out."""
    try:
        said = json.loads(path.with_name(path.name + ATTRIBUTES).read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return keep_attributes(said)


def keep_attributes(said: Any) -> dict[str, Attribute]:
    """Return the members of an object that are valid attributes, without the two that every file has."""
    members = said.items() if isinstance(said, dict) else ()
    sound = [(key, value) for key, value in members if is_attribute(key, value)]
    return dict(sound[: MOST_ATTRIBUTES - 2])

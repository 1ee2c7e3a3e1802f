"""The SQL statements, each in a file of its name."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from sidecall.storage.database import Dialect

_SUFFIX = ".sql"


@cache
def read_statements(dialect: Dialect) -> Mapping[str, str]:
    """Return the statements by name; one in the dialect's folder replaces the common one."""
    folder = files("sidecall.storage") / "queries"
    return _read(folder / "common") | _read(folder / dialect)


def _read(folder: Traversable) -> dict[str, str]:
    found: dict[str, str] = {}
    for place in folder.iterdir() if folder.is_dir() else ():
        if place.is_dir():
            found |= _read(place)
        elif place.name.endswith(_SUFFIX):
            found[place.name.removesuffix(_SUFFIX)] = place.read_text(encoding="utf-8").strip()
    return found

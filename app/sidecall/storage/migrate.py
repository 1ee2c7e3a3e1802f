"""Numbered migrations of a database's tables."""

from functools import cache
from importlib.resources import files

from sidecall.dataclasses import dataclass
from sidecall.kernel.core.overload import StoreUnfit


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration, from the previous version to its own number."""

    number: int
    name: str
    script: str


@cache
def read_migrations(series: str) -> tuple[Migration, ...]:
    """Return all migrations of a series in order; the file `0002_calls.sql` is the second one."""
    folder = files("sidecall.storage") / "migrations" / series
    found = sorted((file.name, file) for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(
        Migration(int(name[:4]), name[5:].removesuffix(".sql"), file.read_text(encoding="utf-8"))
        for name, file in found
    )


def list_missing(series: str, version: int, place: str) -> tuple[Migration, ...]:
    """Return the migrations that a database of this version lacks.

    Args:
        series: The tables: those of a ledger, by its dialect, or of a file's history.
        version: Its newest migration, 0 for an empty one.
        place: Its name in errors.

    Raises:
        StoreUnfit: It has steps that this program does not know.
    """
    known = read_migrations(series)
    if version > known[-1].number:
        raise StoreUnfit(
            f"{place} was written by a newer Sidecall: its tables have version {version}, this program knows "
            f"{known[-1].number}. Run the newer program, or name another place in SIDECALL_STORE."
        )
    return tuple(migration for migration in known if migration.number > version)

"""Numbered migrations: what brings the tables of a database up to date.

The first one of each series makes all tables of the release 0.1.0. What was released is never changed: later releases
add steps.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from msgspec import Struct

from sidecall.kernel.core.overload import StoreUnfit

# What to do about tables that cannot be brought up to date, for each series that is in no file.
_ELSEWHERE = {"postgres": "Name an empty database in SIDECALL_STORE"}
_ASIDE = "Move the file away, with the -wal and -shm beside it, or name another one in SIDECALL_STORE"


class Migration(Struct, frozen=True):
    """One migration, from the previous version to its own number; of a feature, if one is named."""

    number: int
    name: str
    script: str
    feature: str = ""


@cache
def read_migrations(series: str) -> tuple[Migration, ...]:
    """Return all steps of a series in their order; the file `0002_teams.sql` is the second one, of the name "teams"."""
    return read_folder(files("sidecall.storage") / "migrations" / series)


def read_folder(folder: Traversable, feature: str = "") -> tuple[Migration, ...]:
    """Return the steps in a folder in their order."""
    found = sorted((file.name, file) for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(
        Migration(int(name[:4]), name[5:].removesuffix(".sql"), file.read_text(encoding="utf-8"), feature)
        for name, file in found
    )


def list_missing(series: str, taken: Mapping[int, str], place: str) -> tuple[Migration, ...]:
    """Return the steps that a database lacks.

    Args:
        series: Which tables they make: those of a ledger, by its dialect, or of the history beside a file.
        taken: The names of the steps that it has, by their numbers; none where it is empty.
        place: What to call it.

    Raises:
        StoreUnfit: It has steps that this program does not know, or others than any release.
    """
    known = read_migrations(series)
    version = max(taken, default=0)
    instead = _ELSEWHERE.get(series, _ASIDE)
    if any(taken.get(step.number) != step.name for step in known if step.number <= version):
        raise StoreUnfit(
            f"{place} was made by a development version of Sidecall, before 0.1.0, or by another program: its tables "
            f"are not those of a release, and nothing converts them. {instead}; new tables are made at the next start."
        )
    if version > known[-1].number:
        raise StoreUnfit(
            f"{place} was written by a newer Sidecall: its tables have version {version}, this program knows "
            f"{known[-1].number}. Run the newer program, or name another place in SIDECALL_STORE."
        )
    return tuple(migration for migration in known if migration.number > version)

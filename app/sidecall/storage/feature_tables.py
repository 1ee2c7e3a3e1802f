"""Tables that features have in the database of the ledger: each folder has their migrations and its own statements."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.migrate import Migration, read_folder

# Where it is noted which migrations of features a database has; made with the first of them.
VERSIONS = "feature_versions"
MAKE_VERSIONS = f"""
CREATE TABLE IF NOT EXISTS {VERSIONS} (
    feature text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    applied_at double precision NOT NULL,
    PRIMARY KEY (feature, version)
);
"""
FIND_VERSIONS = f"SELECT feature, version, name FROM {VERSIONS}"  # noqa: S608  no outsider's words
_TABLE = re.compile(r"^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?\"?(\w+)", re.MULTILINE | re.IGNORECASE)
_FOLDER = "migrations"


class FeatureTables(NamedTuple):
    """Where the tables of a feature are described, besides those of this package, which are known.

    `folder` has `migrations/0001_NAME.sql` and so on, or for each kind of database `migrations/sqlite/` and
    `migrations/postgres/`; and `queries.sql`.
    """

    feature: str
    folder: str


def list_steps(dialect: str, others: Iterable[FeatureTables] = ()) -> Mapping[str, tuple[Migration, ...]]:
    """Return the migrations of all features that have tables, ours and these, by the feature's name."""
    added = {tables.feature: _read(dialect, Path(tables.folder), tables.feature) for tables in others}
    return {**_list_own(dialect), **{feature: steps for feature, steps in added.items() if steps}}


@cache
def _list_own(dialect: str) -> Mapping[str, tuple[Migration, ...]]:
    features = files("sidecall") / "features"
    folders = sorted(features.iterdir(), key=lambda it: it.name) if features.is_dir() else []
    found = {folder.name: _read(dialect, folder, folder.name) for folder in folders}
    return {feature: steps for feature, steps in found.items() if steps}


def _read(dialect: str, folder: Traversable, feature: str) -> tuple[Migration, ...]:
    migrations = folder / _FOLDER
    if not migrations.is_dir():
        return ()
    own = migrations / dialect
    return read_folder(own if own.is_dir() else migrations, feature)


def find_tables(steps: Iterable[Migration]) -> tuple[str, ...]:
    """Return the names of the tables that these steps make."""
    return tuple(name for step in steps for name in _TABLE.findall(step.script))


def list_missing_of_features(
    steps: Mapping[str, tuple[Migration, ...]], taken: Collection[tuple[str, int, str]], place: str
) -> tuple[Migration, ...]:
    """Return the steps that a database lacks, of features that are there; what others have left in it stays.

    Raises:
        StoreUnfit: It has steps of a feature that this version of it does not know.
    """
    missing: list[Migration] = []
    for feature, known in steps.items():
        applied = {int(number): name for owner, number, name in taken if owner == feature}
        newest = max(applied, default=0)
        if newest > known[-1].number:
            raise StoreUnfit(
                f"{place} was written by a newer version of the feature {feature}: its tables have version {newest}, "
                f"this one knows {known[-1].number}. Install the newer one, or name another place in SIDECALL_STORE."
            )
        if any(applied.get(step.number) != step.name for step in known if step.number <= newest):
            raise StoreUnfit(
                f"{place} has other tables of a feature {feature} than the one that is installed makes. Leave that "
                "out, or name another place in SIDECALL_STORE."
            )
        missing += [step for step in known if step.number > newest]
    return tuple(missing)


def find_taken(
    steps: Mapping[str, tuple[Migration, ...]], taken: Collection[tuple[str, int, str]]
) -> tuple[Migration, ...]:
    """Return the steps of these features that a database has."""
    numbers = {(feature, int(number)) for feature, number, _ in taken}
    return tuple(step for known in steps.values() for step in known if (step.feature, step.number) in numbers)

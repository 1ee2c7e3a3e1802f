"""The SQL statements of the features and of the storage, by their names: each has them in a file `queries.sql`.

Each statement of such a file stands below a line `-- name: find_call`, or `-- name: find_call (postgres)` where it is
for one kind of database. Comments above the statement, and lines before the first head, are no part of it.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import dropwhile, pairwise
from pathlib import Path
from typing import get_args

from sidecall.storage.database import Dialect
from sidecall.storage.feature_tables import FeatureTables

_FILE = "queries.sql"
_HEAD = re.compile(r"-- name: (?P<name>[a-z][a-z0-9_]*)(?: \((?P<dialect>[a-z]+)\))?")
# What nobody writes but for a head, however it is spelt.
_LIKE_HEAD = re.compile(r"\s*--\s*name\b", re.IGNORECASE)


@cache
def read_statements(dialect: Dialect, others: tuple[FeatureTables, ...] = ()) -> Mapping[str, str]:
    """Return all statements for a kind of database, by their names; those of other packages' features too.

    Raises:
        ValueError: A file has a line that is neither a head nor part of a statement, or two have the same name.
    """
    package = files("sidecall")
    features = package / "features"
    folders = [package / "storage", *(features.iterdir() if features.is_dir() else ())]
    found = {f"{folder.name}/{_FILE}": folder / _FILE for folder in folders}
    found |= {f"{feature} ({folder}/{_FILE})": Path(folder, _FILE) for feature, folder in others}
    texts = {place: file.read_text(encoding="utf-8") for place, file in sorted(found.items()) if file.is_file()}
    return parse_statements(texts, dialect)


def parse_statements(texts: Mapping[str, str], dialect: Dialect) -> Mapping[str, str]:
    """Return the statements of these files for a kind of database, by their names.

    Args:
        texts: The files' texts, by what to call them in an error.
        dialect: Which database; statements that are marked with the other one are left out.

    Raises:
        ValueError: A file has a line that is neither a head nor part of a statement, or two have the same name.
    """
    found: dict[str, str] = {}
    places: dict[tuple[str, Dialect], str] = {}
    for place, text in texts.items():
        for name, dialects, statement in _split(place, text):
            for one in dialects:
                if (name, one) in places:
                    raise ValueError(f"{place}: {name} is in {places[name, one]} already, for {one}")
                places[name, one] = place
            if dialect in dialects:
                found[name] = statement
    return found


def _split(place: str, text: str) -> Iterator[tuple[str, tuple[Dialect, ...], str]]:
    """Give the name of each statement, the databases that it is for, and its text."""
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if _LIKE_HEAD.match(line)]
    _require_comments(place, lines[: heads[0]] if heads else lines)
    for begin, end in pairwise([*heads, len(lines)]):
        name, dialects = _read_head(place, lines[begin])
        body = list(dropwhile(_is_comment, lines[begin + 1 : end]))
        if not body:
            raise ValueError(f"{place}: {name} has no statement")
        yield name, dialects, "\n".join(body).strip()


def _require_comments(place: str, lines: list[str]) -> None:
    for line in lines:
        if not _is_comment(line):
            raise ValueError(f"{place}: no name stands above {line!r}; write -- name: find_call")


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("--")


def _read_head(place: str, line: str) -> tuple[str, tuple[Dialect, ...]]:
    known: tuple[Dialect, ...] = get_args(Dialect)
    head = _HEAD.fullmatch(line.rstrip())
    if head is None:
        raise ValueError(f"{place}: {line!r} names no statement; write -- name: find_call")
    if head["dialect"] is None:
        return head["name"], known
    dialects = tuple(one for one in known if one == head["dialect"])
    if not dialects:
        raise ValueError(f"{place}: {line!r} names no kind of database; those are {' and '.join(known)}")
    return head["name"], dialects

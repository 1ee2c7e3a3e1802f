"""A full-text index in SQLite, ranked by words."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidecall.features.vector_stores.indexing.cutting import cut_text
from sidecall.features.vector_stores.indexing.filters import (
    MOST_ATTRIBUTES,
    Attribute,
    is_attribute,
    list_attributes,
    write_filter,
)
from sidecall.features.vector_stores.indexing.ranking import spread, to_share
from sidecall.features.vector_stores.indexing.words import WORTH, strip_ending, write_piece_words, write_words

_TABLES = """
CREATE TABLE files (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, attributes TEXT NOT NULL);
CREATE TABLE file_attributes (member INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, text TEXT, number REAL,
    PRIMARY KEY (member, name)) WITHOUT ROWID;
CREATE TABLE pieces (id INTEGER PRIMARY KEY, member INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX pieces_of_file ON pieces (member);
CREATE VIRTUAL TABLE words USING fts5 (head, lead, rest, tokenize = "porter unicode61 remove_diacritics 2");
-- Texts of a usual length that nobody finds: among few pieces, too, a word that stands in all is worth something.
WITH RECURSIVE fillers (number) AS (SELECT -256 UNION ALL SELECT number + 1 FROM fillers WHERE number < -1)
INSERT INTO words (rowid, head, lead, rest) SELECT number, '', '', replace(hex(zeroblob(50)), '0', 'zz ') FROM fillers;
"""
_SEARCH = f"""
SELECT m.number, m.name, m.attributes, found.score, p.text
FROM (
    SELECT p.id, -bm25(words, {WORTH}) AS score
    FROM words JOIN pieces AS p ON p.id = words.rowid JOIN files AS m ON m.number = p.member
    WHERE words MATCH ?1 AND {{}} ORDER BY score DESC LIMIT ?2
) AS found JOIN pieces AS p ON p.id = found.id JOIN files AS m ON m.number = p.member
ORDER BY found.score DESC
"""  # noqa: S608  our own numbers
# Candidates for each wanted piece, since several of one file may rank high.
_MORE = 3


@dataclass(frozen=True, slots=True)
class FoundPiece:
    """A found piece of a file; `score` is between 0 and 1, and not a probability."""

    filename: str
    score: float
    text: str
    attributes: Mapping[str, Attribute]


class FileIndex:
    """Texts of files in a temporary database; it may be used from any thread."""

    def __init__(self) -> None:
        # A database without a name is kept in memory, and spills to a temporary file when it grows.
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.executescript(_TABLES)
        self._lock = threading.Lock()

    def put(self, files: Iterable[tuple[str, str, Mapping[str, Attribute]]]) -> None:
        """Index files by name, each with its text and attributes, replacing earlier ones.

        Raises:
            ValueError: An attribute is invalid; then nothing is stored.
        """
        with self._lock, self._database:
            for name, text, attributes in files:
                self._forget(name)
                _require_attributes(attributes)
                written = json.dumps(dict(attributes))
                number = self._execute("INSERT INTO files (name, attributes) VALUES (?, ?)", name, written).lastrowid
                self._database.executemany(
                    "INSERT INTO file_attributes VALUES (?, ?, ?, ?, ?)", list_attributes(number or 0, attributes)
                )
                for piece in cut_text(text):
                    found = self._execute("INSERT INTO pieces (member, text) VALUES (?, ?)", number, piece).lastrowid
                    words = write_piece_words(strip_ending(name), piece)
                    self._execute("INSERT INTO words (rowid, head, lead, rest) VALUES (?, ?, ?, ?)", found, *words)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; unknown ones are ignored."""
        with self._lock, self._database:
            for name in names:
                self._forget(name)

    def search(self, queries: Sequence[str], limit: int = 10, filters: Any = None) -> list[FoundPiece]:
        """Find pieces with words of any of these texts, best first; queries have no syntax.

        Raises:
            ToolException: The filters are invalid.
        """
        condition, values = ("1", []) if filters is None else write_filter(filters, after=2)
        statement = _SEARCH.format(condition.replace("$", "?"))
        best: dict[tuple[int, str], FoundPiece] = {}
        with self._lock:
            for query in queries:
                words = write_words(query)
                rows = self._execute(statement, words, _MORE * limit, *values) if words else ()
                for number, name, attributes, score, text in rows:
                    found = FoundPiece(name, score, text, json.loads(attributes))
                    known = best.get((number, text), found)
                    best[number, text] = max(known, found, key=lambda it: it.score)
        order = sorted(best.values(), key=lambda it: it.filename)
        order = spread(order, lambda it: it.filename, lambda it: it.score)
        return [replace(it, score=to_share(it.score)) for it in order[:limit]]

    def close(self) -> None:
        """Release everything."""
        with self._lock:
            self._database.close()

    def _forget(self, name: str) -> None:
        for (number,) in self._execute("SELECT number FROM files WHERE name = ?", name).fetchall():
            self._execute("DELETE FROM words WHERE rowid IN (SELECT id FROM pieces WHERE member = ?)", number)
            self._execute("DELETE FROM pieces WHERE member = ?", number)
            self._execute("DELETE FROM file_attributes WHERE member = ?", number)
            self._execute("DELETE FROM files WHERE number = ?", number)

    def _execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._database.execute(statement, values)


def _require_attributes(attributes: Mapping[str, Attribute]) -> None:
    if len(attributes) > MOST_ATTRIBUTES:
        raise ValueError(f"a file has {MOST_ATTRIBUTES} attributes at most")
    for key, value in attributes.items():
        if not is_attribute(key, value):
            raise ValueError(f"{key[:100]!r} is no attribute: a text, a number or a truth value, by a short name")

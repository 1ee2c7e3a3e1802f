"""An index of texts in SQLite: pieces are found by their words, best first."""

import re
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidecall.indexing.cutting import cut_text
from sidecall.indexing.filters import MOST_ATTRIBUTES, Attribute, is_attribute, name_kind, write_filter

_TABLES = """
CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE attributes (file INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, value NOT NULL,
    PRIMARY KEY (file, name)) WITHOUT ROWID;
CREATE TABLE pieces (id INTEGER PRIMARY KEY, file INTEGER NOT NULL);
CREATE INDEX pieces_of_file ON pieces (file);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = "porter unicode61 remove_diacritics 2");
"""
_SEARCH = """
SELECT f.id, f.name, -bm25(words) AS score, words.text
FROM words JOIN pieces AS p ON p.id = words.rowid JOIN files AS f ON f.id = p.file
WHERE words MATCH ? AND {} ORDER BY score DESC LIMIT ?
"""
_WORD = re.compile(r"\w+")
_MOST_WORDS = 64
# What stands in most texts and says little about any.
_STOPS = frozenset(
    "a about an and are as at be been but by can do does for from had has have how i if in into is it its of on "
    "or that the their them then there these they this to was we were what when where which who why "
    "will with you your".split()
)


@dataclass(frozen=True, slots=True)
class FoundPiece:
    """A piece of a file that a search has found; `score` is between 0 and 1, and no probability."""

    filename: str
    score: float
    text: str
    attributes: Mapping[str, Attribute]


class FileIndex:
    """Texts of files, in a database of this process that goes with it; it may be used from any thread."""

    def __init__(self) -> None:
        # A database without a name is kept in memory, and goes to a file for a while where it grows.
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.executescript(_TABLES)
        self._lock = threading.Lock()

    def put(self, files: Iterable[tuple[str, str, Mapping[str, Attribute]]]) -> None:
        """Keep files by their names, each with its text and attributes, in the place of those that are there.

        Raises:
            ValueError: An attribute is none; nothing is kept then.
        """
        with self._lock, self._database:
            for name, text, attributes in files:
                self._forget(name)
                _require_attributes(attributes)
                number = self._database.execute("INSERT INTO files (name) VALUES (?)", (name,)).lastrowid
                self._database.executemany(
                    "INSERT INTO attributes VALUES (?, ?, ?, ?)",
                    [(number, key, name_kind(value), value) for key, value in attributes.items()],
                )
                for piece in cut_text(text):
                    found = self._database.execute("INSERT INTO pieces (file) VALUES (?)", (number,)).lastrowid
                    self._database.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (found, piece))

    def remove(self, names: Iterable[str]) -> None:
        """Forget files; nothing happens for those that there are not."""
        with self._lock, self._database:
            for name in names:
                self._forget(name)

    def search(self, queries: Sequence[str], limit: int = 10, filters: Any = None) -> list[FoundPiece]:
        """Find pieces that have words of any of these texts, best first; whatever is written, it is words only.

        Raises:
            ToolException: The filters are none.
        """
        condition, values = ("1", []) if filters is None else write_filter(filters)
        best: dict[tuple[int, str], tuple[str, float]] = {}
        with self._lock:
            for query in queries:
                words = write_words(query)
                rows = self._database.execute(_SEARCH.format(condition), (words, *values, limit)) if words else ()
                for number, name, score, text in rows:
                    known = best.get((number, text))
                    best[number, text] = (name, max(score, known[1] if known else 0.0))
            order = sorted(best.items(), key=lambda it: (-it[1][1], it[1][0]))[:limit]
            return [self._show(number, text, name, score) for (number, text), (name, score) in order]

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            self._database.close()

    def _show(self, number: int, text: str, name: str, score: float) -> FoundPiece:
        rows = self._database.execute("SELECT name, kind, value FROM attributes WHERE file = ?", (number,))
        attributes = {key: bool(value) if kind == "truth" else value for key, kind, value in rows}
        return FoundPiece(name, round(score / (1 + score), 4), text, attributes)

    def _forget(self, name: str) -> None:
        for (number,) in self._database.execute("SELECT id FROM files WHERE name = ?", (name,)).fetchall():
            self._database.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM pieces WHERE file = ?)", (number,))
            for table, column in (("pieces", "file"), ("attributes", "file"), ("files", "id")):
                self._database.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))  # noqa: S608  our own names


def write_words(query: str) -> str:
    """Write the words of a text as FTS5 looks for any of them; nothing in it is syntax."""
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(query.encode("utf-8", "ignore").decode())))
    telling = [word for word in words if word not in _STOPS] or words
    return " OR ".join(f'"{word}"' for word in telling[:_MOST_WORDS])


def _require_attributes(attributes: Mapping[str, Attribute]) -> None:
    if len(attributes) > MOST_ATTRIBUTES:
        raise ValueError(f"a file has {MOST_ATTRIBUTES} attributes at most")
    for key, value in attributes.items():
        if not is_attribute(key, value):
            raise ValueError(f"{key[:100]!r} is no attribute: a text, a number or a truth value, by a short name")

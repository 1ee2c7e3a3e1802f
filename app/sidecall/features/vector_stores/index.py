"""A full-text index in SQLite, ranked by words."""

import json
import math
import re
import sqlite3
import threading
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import Any, TypeVar

from sidecall.features.vector_stores.chunking import cut_text
from sidecall.features.vector_stores.filters import (
    MOST_ATTRIBUTES,
    Attribute,
    is_attribute,
    list_attributes,
    write_filter,
)

_WORD = re.compile(r"\w+")
# The parts of an identifier such as `readFile2` or `HTTPServer_error`.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# A piece's first words say most about its topic, and the next ones more than the rest.
HEAD, LEAD = 10, 30
#: The weights of the three columns in FTS5's `bm25`; below 1, repeated words count more.
WORTH = "1.2, 0.9, 0.5"
# The maximum number of query words that are searched, without stop words unless there are no others.
MOST_WORDS = 64

_SAY_NOTHING = frozenset("a an and for in is of or the to".split())


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case; identifiers are split into their parts."""
    words: list[str] = []
    for word in _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        if "_" not in word and (word.islower() or word.istitle() or word.isupper() or not word.isascii()):
            words.append(word.lower())
        elif word.isascii():
            words += [part.lower() for part in _PART.findall(word)]
        else:
            words += [part.lower() for part in word.split("_") if part]
    return words


def write_piece_words(title: str, text: str, mark: str = "") -> tuple[str, str, str]:
    """Return the words of a piece for the index: the first ones with its title, the following, and the rest.

    Args:
        title: The title, such as the name of a file.
        text: The piece.
        mark: The prefix of each word, which separates owners.
    """
    words = split_words(text)
    head = [*split_words(title), *words[:HEAD]]
    return _join(head, mark), _join(words[HEAD:LEAD], mark), _join(words[LEAD:], mark)


def strip_ending(name: str) -> str:
    """Return a file name without the extension."""
    stem, dot, ending = name.rpartition(".")
    return stem if dot and stem and "/" not in ending else name


def _join(words: list[str], mark: str) -> str:
    return mark + f" {mark}".join(words) if words else ""


def list_query_words(query: str) -> list[str]:
    """Return the words of a query, each once, as many as are looked for."""
    words = list(dict.fromkeys(split_words(query.encode("utf-8", "ignore").decode())))
    return ([word for word in words if word not in _SAY_NOTHING] or words)[:MOST_WORDS]


def write_words(query: str, mark: str = "") -> str:
    """Write the words of a query as FTS5 looks for any of them."""
    return " OR ".join(f'"{mark}{word}"' for word in list_query_words(query))


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


T = TypeVar("T")

K = TypeVar("K", bound=Hashable)
# The factor for each further piece of a file, so that one file does not fill the result.
_FURTHER = 0.85
# The constant of reciprocal rank fusion, as in the paper.
_EVEN = 60


def to_share(score: float) -> float:
    """Map unbounded scores to a score between 0 and 1 in the same order; it is not a probability."""
    return round(score / (1 + score), 4) if score > 0 else 0.0


def spread(found: Iterable[T], name: Callable[[T], Hashable], score: Callable[[T], float]) -> list[T]:
    """Order by scores, lowering each further piece of the same name."""
    seen: Counter[Hashable] = Counter()
    worth: list[tuple[float, T]] = []
    for one in sorted(found, key=lambda it: -score(it)):
        worth.append((score(one) * _FURTHER ** seen[name(one)], one))
        seen[name(one)] += 1
    return [one for _, one in sorted(worth, key=lambda it: -it[0])]


def fuse(orders: Iterable[tuple[float, Sequence[K]]]) -> dict[K, float]:
    """Merge ranked lists by weighted reciprocal ranks into scores from 0 to 1."""
    scores: dict[K, float] = {}
    whole = 0.0
    for weight, order in orders:
        whole += weight
        for rank, one in enumerate(order, 1):
            scores[one] = scores.get(one, 0.0) + weight * (_EVEN + 1) / (_EVEN + rank)
    return {one: score / whole for one, score in scores.items()} if whole else {}


def pack_vector(values: Sequence[float]) -> bytes:
    """Return a normalized vector as bytes, so that a dot product is the cosine."""
    length = math.sqrt(sum(map(mul, values, values))) or 1.0
    return array("f", (value / length for value in values)).tobytes()


def find_nearest_vectors(wanted: bytes, vectors: Mapping[K, bytes], most: int) -> list[K]:
    """Return the vectors nearest to one, nearest first; vectors of other lengths are left out."""
    to = array("f", wanted)
    scores = {key: sum(map(mul, to, array("f", it))) for key, it in vectors.items() if len(it) == len(wanted)}
    return sorted(scores, key=lambda key: -scores[key])[:most]

"""Many rows go into a SQLite file with few statements."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.file import SqliteFile
from sidecall.storage.sqlite.wide_inserts import inserts_rows, put_together, widen
from sidecall.storage.sqlite.writer_connection import Order, WriterConnection

_STATEMENTS = {
    "add": "INSERT INTO counted (name, calls)\nVALUES ($1, $2)\n"
    "ON CONFLICT (name) DO UPDATE SET calls = counted.calls + excluded.calls",
    "list": "SELECT name, calls FROM counted ORDER BY name",
    "make": "CREATE TABLE counted (name TEXT PRIMARY KEY, calls INTEGER NOT NULL)",
    "keep": "INSERT INTO kept (id, word, is_new) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING RETURNING id",
    "change": "UPDATE kept SET is_new = 0 WHERE id = $1 RETURNING id",
    "list_kept": "SELECT id, word, is_new FROM kept ORDER BY id",
    "make_kept": "CREATE TABLE kept (id TEXT PRIMARY KEY, word TEXT UNIQUE CHECK (word <> ''), is_new INTEGER)",
}


@pytest.mark.parametrize(
    ("statement", "are_given", "expected"),
    [
        ("INSERT INTO a (b, c) VALUES (?1, ?2)", (True, True), "INSERT INTO a (b, c) VALUES (?1, ?3), (?2, ?4)"),
        (
            "INSERT INTO a VALUES (\n    ?1,\n    ?2\n) ON CONFLICT DO NOTHING",
            (True, True),
            "INSERT INTO a VALUES (\n    ?1,\n    ?3\n), (\n    ?2,\n    ?4\n) ON CONFLICT DO NOTHING",
        ),
        ("INSERT INTO a VALUES (?1, 1, ?2)", (True, True), "INSERT INTO a VALUES (?1, 1, ?3), (?2, 1, ?4)"),
        (
            "INSERT INTO a VALUES (?1, ?2, 1, ?3)",
            (True, False, True),
            "INSERT INTO a VALUES (?1, NULL, 1, ?3), (?2, NULL, 1, ?4)",
        ),
        ("INSERT INTO a VALUES (?1)", (False,), "INSERT INTO a VALUES (NULL), (NULL)"),
    ],
)
def test_an_insertion_of_one_row_becomes_one_of_two(statement: str, are_given: tuple[bool, ...], expected: str) -> None:
    """With its values column by column, and without those that no row has."""
    assert inserts_rows(statement)
    assert widen(statement, 2, are_given) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO a VALUES (?2, ?1)",
        "INSERT INTO a VALUES (?1, ?1)",
        "INSERT INTO a VALUES (?1) ON CONFLICT DO UPDATE SET b = ?1",
        "INSERT INTO a VALUES (coalesce(?1, 2))",
        "INSERT INTO a VALUES (1, 2)",
        "DELETE FROM a WHERE b = ?1",
    ],
)
def test_others_stay_as_they_are(statement: str) -> None:
    """Where the values are not just the row, or one of them stands elsewhere."""
    rows = [("a", "b"), ("c", "d")]

    assert not inserts_rows(statement)
    assert [*put_together(statement, rows)] == [(statement, row) for row in rows]


@pytest.mark.parametrize(
    ("many", "sizes"),
    [(1, [1]), (2, [2]), (3, [2, 1]), (31, [16, 8, 4, 2, 1]), (32, [32]), (100, [32, 32, 32, 4])],
)
def test_rows_are_put_together_in_few_sizes(many: int, sizes: list[int]) -> None:
    """So that each statement is prepared once."""
    parts = [*put_together("INSERT INTO a VALUES (?1, ?2)", [(number, "b") for number in range(many)])]

    assert [len(values) // 2 for _, values in parts] == sizes
    assert [value for _, values in parts for value in values[: len(values) // 2]] == [*range(many)]


def test_what_no_row_has_is_not_bound() -> None:
    """Of a part of them; what some have is bound in all of its rows."""
    statement = "INSERT INTO a VALUES (?1, ?2, ?3)"
    rows = [(1, None, None), (2, None, "b"), (3, None, None)]

    assert [*put_together(statement, rows)] == [
        ("INSERT INTO a VALUES (?1, NULL, ?3), (?2, NULL, ?4)", (1, 2, None, "b")),
        (statement, (3, None, None)),
    ]


@pytest.mark.parametrize("many", [1, 31, 32, 33, 100])
async def test_each_row_counts(tmp_path: Path, many: int) -> None:
    """Also the second one of its kind in one statement."""
    database = SqliteDatabase(tmp_path / "ledger.db", statements=_STATEMENTS)
    await database.open()
    await database.write("make")
    await database.write_all("add", [(f"name {number % 3}", number) for number in range(many)])
    found = await database.read("list")
    await database.close()

    expected: dict[str, int] = {}
    for number in range(many):
        expected[f"name {number % 3}"] = expected.get(f"name {number % 3}", 0) + number
    assert found == sorted(expected.items())


@pytest.mark.parametrize("is_file", [False, True])
async def test_rows_that_are_written_at_once_have_outcomes_of_their_own(tmp_path: Path, *, is_file: bool) -> None:
    """One that is there already, or comes twice, and one that the table refuses, say so, and the others are written."""
    database = SqliteDatabase(tmp_path / "ledger.db" if is_file else None, statements=_STATEMENTS)
    await database.open()
    await database.write("make_kept")
    await database.write("keep", "a", "one")
    sent: list[tuple[str, *tuple[str | None, ...]]] = [("keep", "b", "two"), ("keep", "a", "three"), ("keep", "c", "")]
    sent += [("keep", "d", None), ("keep", "e", "two")]
    sent += [("change", "b"), ("keep", "f", "six"), ("keep", "g", "seven"), ("change", "z"), ("change", "f")]
    outcomes = await asyncio.gather(*(database.write(*order) for order in sent), return_exceptions=True)
    found = await database.read("list_kept")
    await database.close()

    refused = outcomes.pop(2)
    assert isinstance(refused, sqlite3.IntegrityError)
    assert outcomes == [("b",), None, ("d",), None, ("b",), ("f",), ("g",), None, ("f",)]
    assert found == [("a", "one", 1), ("b", "two", 0), ("d", None, 1), ("f", "six", 0), ("g", "seven", 1)]


def test_rows_of_one_group_take_few_statements() -> None:
    """Those that come one after the other, in the order in which they came."""
    pen, said = WriterConnection(SqliteFile(None, patience=2.0)), list[str]()
    pen.open()
    pen.write([(_STATEMENTS["make_kept"], (), "row")])
    keep = "INSERT INTO kept (id, word, is_new) VALUES (?1, ?2, 1) ON CONFLICT DO NOTHING"
    change = "UPDATE kept SET is_new = 0 WHERE id = ?1"
    pen._connection.set_trace_callback(said.append)
    orders: list[Order] = [(keep, (number, number), "key") for number in "abcdef"]
    orders += [(change, (number,), "key") for number in "ab"]

    assert pen.write(orders) == [("a",), ("b",), ("c",), ("d",), ("e",), ("f",), ("a",), ("b",)]
    assert [text.split()[0] for text in said] == ["BEGIN", "INSERT", "INSERT", "UPDATE", "UPDATE", "COMMIT"]
    pen.close()

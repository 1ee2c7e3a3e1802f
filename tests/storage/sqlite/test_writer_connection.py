"""Many rows go into a SQLite file with few statements."""

from pathlib import Path

import pytest

from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.writer_connection import widen

_STATEMENTS = {
    "add": "INSERT INTO counted (name, calls)\nVALUES ($1, $2)\n"
    "ON CONFLICT (name) DO UPDATE SET calls = counted.calls + excluded.calls",
    "list": "SELECT name, calls FROM counted ORDER BY name",
    "make": "CREATE TABLE counted (name TEXT PRIMARY KEY, calls INTEGER NOT NULL)",
}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("INSERT INTO a (b, c) VALUES (?1, ?2)", f"INSERT INTO a (b, c) VALUES {', '.join(['(?, ?)'] * 32)}"),
        ("INSERT INTO a VALUES (\n    ?1,\n    ?2\n) ON CONFLICT DO NOTHING", "(?, ?) ON CONFLICT DO NOTHING"),
        ("INSERT INTO a VALUES (?2, ?1)", None),
        ("INSERT INTO a VALUES (?1, 1)", None),
        ("INSERT INTO a VALUES (?1) ON CONFLICT DO UPDATE SET b = ?1", None),
        ("DELETE FROM a WHERE b = ?1", None),
    ],
)
def test_an_insertion_of_one_row_becomes_one_of_many(statement: str, expected: str | None) -> None:
    """Where its values are the row and nothing else."""
    wide = widen(statement)

    assert wide is None if expected is None else wide is not None and wide.endswith(expected)


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

"""A history of the version before is read on."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import pytest

from sidecall.features.calls.entry import CallFilter
from sidecall.features.history.packing import Packer
from sidecall.features.history.pending_calls import NotedCall
from sidecall.features.history.rollups import HOUR
from sidecall.features.history.stores import HistoryBounds
from sidecall.storage.migrate import read_migrations
from tests.features.history.made import keep, make_blocks, note_at, opened

BOUNDS = HistoryBounds(1e9, 1000, 10_000_000)
# Hour, tool, whether it failed, bucket and calls.
_SUMS = ((0, "say", 0, 15, 3), (0, "say", 1, 16, 2), (0, "add", 0, 40, 4), (25, "say", 0, 15, 1))


@pytest.fixture(params=["sqlite", "postgres"])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the URL of a store that has no tables yet."""
    is_file = request.param == "sqlite"
    return f"sqlite:///{tmp_path / 'ledger.db'}" if is_file else str(request.getfixturevalue("postgres_url"))


async def _write(store: str, statements: list[str]) -> None:
    if store.startswith("sqlite"):
        path = Path(store.removeprefix("sqlite:///"))
        with sqlite3.connect(path.with_name("ledger.history.db")) as connection:
            for statement in statements:
                connection.executescript(statement)
        connection.close()
        return
    link = await asyncpg.connect(store)
    await link.execute(
        "CREATE TABLE schema_version (version bigint PRIMARY KEY, name text NOT NULL, applied_at double precision)"
    )
    for statement in statements:
        await link.execute(statement)
    await link.close()


def _list_steps(store: str) -> list[str]:
    series, last = ("sqlite_history", 1) if store.startswith("sqlite") else ("postgres", 7)
    steps: list[str] = []
    for step in read_migrations(series)[:last]:
        steps += [step.script, f"INSERT INTO schema_version VALUES ({step.number}, '{step.name}', 0)"]
    return steps


def _list_rows(store: str, noted: Sequence[NotedCall], hour: int) -> list[str]:
    steps = []
    blob = "x'{}'" if store.startswith("sqlite") else "'\\x{}'"
    for one in Packer().pack(noted):
        values = f"'default', '{one.last_id}', '{one.first_id}', {one.calls}, {one.size}"
        heads, bodies = blob.format(one.heads.hex()), blob.format(one.bodies.hex())
        steps.append(
            "INSERT INTO history_blocks (tenant, last_id, first_id, calls, size, heads, bodies) "
            f"VALUES ({values}, {heads}, {bodies})"
        )
        steps += [f"INSERT INTO history_marks VALUES ('default', '{text}', '{one.last_id}')" for text in one.marks]
    for later, value, is_error, bucket, calls in _SUMS:
        sums = f"'default', 'name', {hour + later}, '{value}', {is_error}, {bucket}, {calls}"
        steps.append(f"INSERT INTO history_sums VALUES ({sums})")
    return steps


async def test_calls_and_sums_are_there_after_an_upgrade(fresh: str) -> None:
    """Blocks that do not say which of their calls a mark is of are looked through, and new ones stand beside them."""
    now = int(time.time()) // HOUR * HOUR - 30 * HOUR
    old = [note_at(now + number, number, caller="ann" if number % 2 else "bob") for number in range(10)]
    await _write(fresh, [*_list_steps(fresh), *_list_rows(fresh, old, now // HOUR)])

    blocks = make_blocks(fresh, BOUNDS)
    async with opened(blocks, 1e9) as history:
        await keep(blocks, [note_at(now + 20, 20, caller="bob"), note_at(now + 21, 21, caller="ann")])
        of_bob = await history.list(CallFilter("default", caller="bob", names=["say"]), 100, None)
        shown = await history.get(old[3].id, "default")
        found = await history.summarize("default", "name", None, None)
        first = await history.summarize("default", "name", None, float(now + HOUR))

    assert [entry.id for entry in of_bob.calls] == [note_at(now + 20, 20).id] + [old[n].id for n in (8, 4, 2)]
    assert shown.args == {"number": 3}
    assert [(group.value, group.calls, group.errors) for group in found.groups] == [("say", 7, 2), ("add", 5, 0)]
    assert [(group.value, group.calls, group.errors) for group in first.groups] == [("say", 6, 2), ("add", 5, 0)]

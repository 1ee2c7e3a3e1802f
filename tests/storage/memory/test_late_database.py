"""A database in memory is made when something is first kept there, and nobody sees the difference."""

import time
from typing import Any

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage import memory_database
from sidecall.storage.memory_database import LateDatabase
from sidecall.storage.sqlite.database import SqliteDatabase

# What those who look again and again ask, and a person's decision, and with what.
ASKED: dict[str, tuple[Any, ...]] = {
    "find_suspended_call": ("an approval",),
    "count_queued_calls": (),
    "measure_calls": (),
    "list_forgettable_calls": (1.0, 1.0, 1.0, 5),
    "find_aged_calls": (1.0, 1.0, 1.0, 5),
    "list_held_calls": (5,),
    "list_lost_calls": (1.0, "me"),
    "list_own_calls": ("me",),
    "list_unwanted_calls": ("me",),
    "list_due_callbacks": (1.0, 5, 4),
}


async def test_an_empty_one_answers_the_same_before_it_is_made_and_afterwards() -> None:
    """So that one that looks every second makes none."""
    late, made = LateDatabase(), SqliteDatabase()
    await late.open()
    await made.open()

    answers = {name: await late.read(name, *values) for name, values in ASKED.items()}
    await late.write_all("forget_ended_calls", [])
    expected = {name: await made.read(name, *values) for name, values in ASKED.items()}

    assert answers == expected
    assert late._database is None
    await made.close()


async def test_what_is_written_is_found() -> None:
    """Until it is closed; the next to open it finds it empty."""
    late = LateDatabase()
    await late.open()

    await late.write("register_server", "me", time.time())
    found = await late.read("list_lost_calls", time.time(), "other")
    is_made, trouble = late._database is not None, (late.trouble, late.unavailable_since)
    await late.close()
    await late.open()

    assert (found, is_made, trouble, late._database) == ([], True, (None, None), None)
    await late.close()


async def test_one_that_is_not_open_cannot_be_used() -> None:
    """Neither before, when it says so, nor afterwards."""
    late = LateDatabase()
    before = late.trouble
    with pytest.raises(StoreUnavailable):
        await late.read("count_queued_calls")
    await late.open()
    await late.close()

    with pytest.raises(StoreUnavailable):
        await late.write("register_server", "me", 1.0)
    assert (before, late.trouble) == ("It is not open.", None)


def _open_without_files(**_: Any) -> SqliteDatabase:
    raise OSError(24, "Too many open files")


async def test_where_files_have_run_out_it_is_made_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening it is tried again."""
    late = LateDatabase()
    await late.open()
    with monkeypatch.context() as without:
        without.setattr(memory_database, "SqliteDatabase", _open_without_files)
        with pytest.raises(StoreUnavailable):
            await late.write("register_server", "me", 1.0)

    await late.write("register_server", "me", 1.0)
    await late.close()

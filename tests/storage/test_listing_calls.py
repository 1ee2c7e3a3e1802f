"""A page of calls ends where it becomes large, and what is long is read only for it."""

import asyncio
import tracemalloc
from datetime import UTC, datetime

import pytest

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.records import Acceptance, CallCompletion
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.json_data.text import quote_text
from sidecall.kernel.ports.call_entry import CallFilter
from sidecall.storage.database import LONG_READS
from tests.kit.faulty import SlowDatabase
from tests.kit.ledgers import Place

HALF = 600_000


@pytest.fixture
async def calls(ledger: Place) -> SqlCalls:
    """Give what keeps calls."""
    return SqlCalls(await ledger.open_database())


async def keep(calls: SqlCalls, id: str, *, args: int = 1, answer: int | None = 1) -> None:
    """Keep a call with so many characters of arguments and answer; None for one that runs."""
    call = ToolCall(name="work", args={}, id=id)
    record = CallRecord(id=id, created_at=datetime.fromtimestamp(1, UTC), tool_call=call, caller=Caller("ann"))
    await calls.accept(record, Acceptance("me", args=quote_text("a" * args)))
    if answer is not None:
        await calls.finish(id, 1, CallCompletion("succeeded", None, ToolMessage("m" * answer)))


async def read_pages(calls: SqlCalls, limit: int, *, is_whole: bool) -> list[list[tuple[str, int, int | None]]]:
    """List all, and return of each call on each page its id, and how long its arguments and its answer are."""
    pages, cursor = [], None
    while not pages or cursor is not None:
        page = await calls.list(CallFilter("default"), limit, cursor, is_whole=is_whole)
        cursor = page.cursor
        pages.append(
            [
                (call.id, len(call.args), None if call.message is None else len(call.message.content))
                for call in page.calls
            ]
        )
    return pages


async def test_one_tenants_slow_lists_hold_up_no_others(ledger: Place) -> None:
    """They take half of the places, of which each database has fewer than connections that read."""
    database = SlowDatabase(await ledger.open_database(), "slow")
    calls = SqlCalls(database)
    await keep(calls, "1")
    slow = [asyncio.create_task(calls.list(CallFilter("slow"))) for _ in range(50)]
    await asyncio.sleep(0)

    assert [call.id for call in (await calls.list(CallFilter("default"))).calls] == ["1"]
    assert database.begun == LONG_READS[database.dialect] // 2
    for task in slow:
        task.cancel()
    await asyncio.wait(slow)


async def test_a_page_with_answers_ends_where_it_is_large(calls: SqlCalls) -> None:
    """Each call is on one page, also one that is larger than a page, and one that has no answer yet."""
    await keep(calls, "a", answer=2 * HALF)
    await keep(calls, "b", args=HALF, answer=None)
    await keep(calls, "c", args=HALF, answer=2)
    await keep(calls, "d", answer=HALF)
    await keep(calls, "e")

    assert await read_pages(calls, 10, is_whole=True) == [
        [("e", 1, 1), ("d", 1, HALF), ("c", HALF, 2)],
        [("b", HALF, None), ("a", 1, 2 * HALF)],
    ]
    assert [len(page) for page in await read_pages(calls, 2, is_whole=True)] == [2, 2, 1]


async def test_a_page_without_answers_ends_where_arguments_are_large(calls: SqlCalls) -> None:
    """However large their answers are."""
    await keep(calls, "a", args=3 * HALF)
    await keep(calls, "b", answer=3 * HALF)
    await keep(calls, "c", args=HALF, answer=HALF)
    await keep(calls, "d", args=HALF, answer=None)
    await keep(calls, "e", answer=HALF)

    assert await read_pages(calls, 10, is_whole=False) == [
        [("e", 1, None), ("d", HALF, None), ("c", HALF, None)],
        [("b", 1, None), ("a", 3 * HALF, None)],
    ]
    assert [len(page) for page in await read_pages(calls, 4, is_whole=False)] == [3, 2]


async def test_what_a_list_does_not_show_is_not_read(calls: SqlCalls) -> None:
    """Answers, and arguments for which its page has no room."""
    for number in range(12):
        await keep(calls, str(number), args=500_000, answer=900_000)

    tracemalloc.start()
    try:
        await calls.list(CallFilter("default"), 100)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 5_000_000

"""Which calls somebody has still to be told of, in each database."""

from datetime import UTC, datetime

import pytest

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.records import Acceptance, CallCompletion
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.webhooks.queue import DueCallback, SqlCallbacks
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from tests.kit.ledgers import InDatabase, Place

URL = "https://hooks.example.com/"


async def end(calls: SqlCalls, id: str, at: float, caller: str = "ann", url: str | None = URL) -> None:
    """Accept a call at a time, and end it."""
    call = ToolCall(name="work", args={}, id=id)
    created = datetime.fromtimestamp(at, UTC)
    record = CallRecord(id=id, created_at=created, tool_call=call, caller=Caller(caller))
    await calls.accept(record, Acceptance("me", callback_url=url))
    await calls.finish(id, 1, CallCompletion("succeeded", None, ToolMessage("done")))


@pytest.mark.parametrize("lasting", ["sqlite", "postgres"], indirect=True)
async def test_they_are_handed_out_once_and_fairly(ledger: Place) -> None:
    """One of each caller, then the next ones."""
    assert isinstance(ledger, InDatabase)
    calls, callbacks = SqlCalls(ledger.database), SqlCallbacks(ledger.database)
    for number in range(3):
        await end(calls, f"a{number}", 100.0 + number)
    await end(calls, "b", 200.0, "bob")
    await end(calls, "c", 90.0, url=None)
    await end(calls, "d", 900.0)

    due = await callbacks.list_due(300.0, 3, 4)
    assert [(it.call_id, it.at, it.tries) for it in due] == [("a0", 100.0, 0), ("b", 200.0, 0), ("a1", 101.0, 0)]

    claimed = await callbacks.claim(due[0], 360.5)
    assert claimed == DueCallback("a0", "default", URL, 360.5, 1)
    assert await callbacks.claim(due[0], 361.5) is None
    await callbacks.settle(claimed, 400.25)
    await callbacks.settle(claimed, None)  # It is another's now.
    assert await callbacks.claim(due[1], 360.0) is not None
    await callbacks.settle(DueCallback("b", "default", URL, 360.0, 1), None)

    assert {it.call_id: (it.at, it.tries) for it in await callbacks.list_due(1000.0, 10, 4)} == {
        "a0": (400.25, 1),
        "a1": (101.0, 0),
        "a2": (102.0, 0),
        "d": (900.0, 0),
    }


@pytest.mark.parametrize("lasting", ["sqlite", "postgres"], indirect=True)
async def test_one_host_hides_no_others(ledger: Place) -> None:
    """Of each up to some, of several callers in turn; the first of a host comes before the second of another."""
    assert isinstance(ledger, InDatabase)
    calls, callbacks = SqlCalls(ledger.database), SqlCallbacks(ledger.database)
    gone = ["https://gone.example/a", "https://Gone.example?b", "http://gone.example", "https://gone.example/b/c"]
    for number, url in enumerate(gone * 3):
        await end(calls, f"a{number:02}", 100.0 + number, url=url)
    await end(calls, "b", 200.0, "bob", url="https://gone.example/")
    await end(calls, "c", 300.0, url="https://there.example/?x=/")
    await end(calls, "d", 300.5, url="https://there.example:8443/")

    due = await callbacks.list_due(1000.0, 10, 3)

    assert [it.call_id for it in due] == ["a00", "b", "c", "d", "a01"]

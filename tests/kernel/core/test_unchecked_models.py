"""Models that are made past their validators are those that the validators would make."""

import pytest

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.records import Acceptance
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall, make_unchecked
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.sqlite.database import SqliteDatabase

CALL = ToolCall(name="pay", args={"text": "ü"}, id="call_1")
REQUEST = CallRequest(CALL, Sender({"Host": "localhost"}), context={"user": 7})


def test_one_equals_that_of_the_validator() -> None:
    """And is written in the same words."""
    fields = {"name": "pay", "args": {"text": "ü"}, "id": "call_1", "type": "tool_call", "item": None}
    made = make_unchecked(ToolCall, fields)

    assert made == CALL
    assert made.model_dump_json() == CALL.model_dump_json()
    assert made.model_copy(update={"id": "2"}).id == "2"


def test_a_record_is_what_is_read_back() -> None:
    """Of all its fields, in their order."""
    record = CallRecord.of(REQUEST, "invocation")

    assert list(record.__dict__) == list(CallRecord.model_fields)
    assert CallRecord.from_json(record.to_json()) == record
    assert CallRecord(**record.__dict__).to_json() == record.to_json()


@pytest.mark.parametrize("owner", [None, "this"])
async def test_an_entry_is_what_is_found_later(owner: str | None) -> None:
    """Of all its fields, in their order."""
    database = SqliteDatabase()
    await database.open()
    calls = SqlCalls(database)
    record = CallRecord.of(REQUEST, "invocation")
    accepted = await calls.accept(record, Acceptance(owner, '{"text":"\u00fc"}'))
    found = await calls.get("invocation", "default")
    await database.close()

    assert accepted is not None
    begun = accepted.entry
    assert list(begun.__dict__) == list(CallEntry.model_fields)
    assert begun.model_dump() == found.model_dump()
    assert begun.model_dump_json() == found.model_dump_json()

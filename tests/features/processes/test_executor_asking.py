"""A tool in a process asks a person to decide, and its server for the store."""

import asyncio
import json
from typing import Any

import pytest

from sidecall import ApprovalRequired
from sidecall.composition.local_pipeline import default_stages
from sidecall.features.processes.executor import ProcessExecutor
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from tests.features.processes.asking_tools import (
    misuse_store,
    peek,
    refund,
    use_store,
    use_store_in_a_copy,
    use_store_late,
    use_store_together,
    wait_for_store,
)
from tests.kernel.executors.conftest import Answer, answering


@pytest.fixture
def answer(processes: ProcessExecutor) -> Answer:
    """Run a call in a process, and ask a person where its tool wants that."""
    return answering(processes, default_stages({"process": processes}))


async def test_what_a_tool_asks_crosses_to_the_server(answer: Answer) -> None:
    """Also where JSON cannot say all of it."""
    with pytest.raises(ApprovalRequired) as caught:
        await answer(refund, {"amount": 500})
    approval = caught.value.approval

    assert (approval.description, approval.preview) == ("Pay 500 back?", {"amount": 500})
    assert approval.payload == "(JSON cannot say this payload.)"


async def test_an_approved_call_runs_there_and_asks_no_second_time(answer: Answer) -> None:
    """The second question is a failure."""
    assert (await answer(refund, {"amount": 500}, approved=True)).content == "refunded 500"

    failed = await answer(refund, {"amount": 2000}, approved=True)

    assert failed.response_metadata["error"]["kind"] == "execution_error"


@pytest.fixture
def store() -> ItemStore:
    """Give the store of one tenant."""
    return ItemStore(MemoryItems())


async def test_a_tool_has_the_store_of_its_server(answer: Answer, store: ItemStore) -> None:
    """With all its methods, and what they return."""
    message = await answer(use_store, store=store)
    item = await store.aget(("a", "b"), "one")

    assert json.loads(str(message.content)) == ["text", True, None, ["one"], [["a"], ["a", "b"]]]
    assert item is not None
    assert item.value == {"n": 1}


async def test_a_program_may_bring_a_store_with_sync_methods_alone(answer: Answer) -> None:
    """As a tool elsewhere has it."""

    class Own:
        get = staticmethod(ItemStore(MemoryItems()).get)

    message = await answer(peek, store=Own())

    assert message.content == "false"


async def test_an_async_tool_waits_for_the_store(answer: Answer, store: ItemStore) -> None:
    """Many tasks at once; where it cannot wait nothing is done."""
    message = await answer(use_store_together, store=store)

    assert json.loads(str(message.content)) == [True, "StoreWouldBlock", None]


async def test_what_the_store_refuses_is_raised_in_the_tool(answer: Answer, store: ItemStore) -> None:
    """As what it is."""
    message = await answer(misuse_store, store=store)

    assert message.content == [
        "TypeError",
        "ValueError",
        "ItemTooLarge",
        "ValueError",
        "NotImplementedError",
        "ValueError",
    ]


async def test_a_copy_of_the_process_has_no_store(answer: Answer, store: ItemStore) -> None:
    """It would take its parent's replies."""
    assert (await answer(use_store_in_a_copy, store=store)).content == "7"


async def test_the_store_ends_with_the_call(answer: Answer, store: ItemStore) -> None:
    """What a thread of the tool asks later is refused, and takes nobody's reply."""
    # One of the two processes has two of three calls.
    said = [(await answer(use_store_late, store=store)).content for _ in range(3)]

    assert ["The call has ended, and with it the use of its store."] * 2 in said


async def test_the_deadline_stands_over_the_store(answer: Answer) -> None:
    """A process that waits for it is killed like any other."""

    class Never:
        async def aget(self, *_: Any) -> None:
            await asyncio.Event().wait()

    message = await answer(wait_for_store, store=Never())

    assert message.response_metadata["error"]["kind"] == "timeout"

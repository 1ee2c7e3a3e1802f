"""What waits takes so many bytes and no more, and lists leave out what is large."""

import tracemalloc
from typing import Any

import pytest

from sidecall import ToolCall, ToolMessage
from sidecall.features.approvals.record import ApprovalRecord, Decision
from sidecall.features.jobs.call_record import CallRecord
from sidecall.kernel.core.errors import UnknownApproval
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import TooManyApprovals
from sidecall.kernel.ports.approvals.approval import Preview
from tests.kit.ledgers import InMemory, Place

APPROVE = Decision(decision="approve")
LONG = "x" * 20_000


class Desk:
    """Approvals within so many bytes, for as long as a test lets them wait."""

    def __init__(self, ledger: Place, most: int, ttl: float = 10.0) -> None:
        self.now = 0.0
        self.taken = ledger.count_bytes
        self.approvals = ledger.approvals(ttl, 1000, lambda: self.now, most)

    async def ask(self, id: str = "1", sent: Any = None, **shown: Any) -> ApprovalRecord:
        """Keep a call that was sent with other arguments than it is shown with, if it says so."""
        call = ToolCall(name="pay", args=shown if sent is None else sent, id=id)
        record = CallRecord.of(CallRequest(call), f"invocation {id}")
        return await self.approvals.ask(record, ToolCall(name="pay", args=shown, id=id))

    async def ids(self, **options: Any) -> tuple[list[str], str | None]:
        """List the ids of calls on a page, and where the next one begins."""
        page = await self.approvals.list("default", **options)
        return [approval.tool_call.id for approval in page.approvals], page.cursor


async def test_calls_are_kept_until_their_bytes_are_used_up(ledger: Place) -> None:
    """However few they are; what is refused takes nothing."""
    desk = Desk(ledger, 60_000)

    await desk.ask("1", text=LONG)
    await desk.ask("2", text=LONG)
    taken = await desk.taken()
    with pytest.raises(TooManyApprovals) as refused:
        await desk.ask("3", text=LONG)

    assert 40_000 < taken == await desk.taken() <= 60_000
    assert refused.value.retry_after == 60
    assert refused.value.message == (
        "The approvals that this server keeps take all the bytes that it has for them (SIDECALL_MAX_WAITING_BYTES), "
        "so it takes no more."
    )


@pytest.mark.parametrize(("sent", "copies"), [(None, 1), ({"text": LONG}, 1), ({"text": LONG.upper()}, 2), (LONG, 2)])
async def test_equal_arguments_are_kept_once(ledger: Place, sent: Any, copies: int) -> None:
    """A call runs with what was sent, and a person is shown what became of it."""
    desk = Desk(ledger, 100_000)

    await desk.ask(sent=sent, text=LONG)

    assert copies * 20_000 < await desk.taken() < copies * 20_000 + 6_000


async def test_arguments_that_are_equal_in_python_only_are_kept_as_they_are(ledger: Place) -> None:
    """To Python 1, 1.0 and true are equal; to a tool they are not."""
    desk = Desk(ledger, 100_000)

    asked = await desk.ask(sent={"value": True}, value=1)
    kept = await desk.approvals.get(asked.approval.id)

    assert kept.approval.tool_call.args == {"value": 1}
    assert kept.call is not None
    assert isinstance(kept.call.tool_call.args, dict)
    assert kept.call.tool_call.args["value"] is True


async def test_what_is_kept_is_what_was_asked(ledger: Place) -> None:
    """Everything that JSON can say, as deep as it may be."""
    desk = Desk(ledger, 100_000)
    deep: Any = "ü\0😀"
    for _ in range(190):
        deep = [deep]

    asked = await desk.ask(sent='{"raw": 1}', deep=deep, number=10**400, small=-0.1, none=None)

    assert await desk.approvals.get(asked.approval.id) == asked


async def test_an_edit_that_there_is_no_room_for_decides_nothing(ledger: Place) -> None:
    """It can be decided without."""
    desk = Desk(ledger, 30_000)
    waiting = (await desk.ask(text=LONG)).approval

    with pytest.raises(TooManyApprovals):
        await desk.approvals.decide(waiting.id, Decision(decision="approve", args={"text": LONG + "y"}), "eve")

    assert (await desk.approvals.get(waiting.id)).approval == waiting
    assert (await desk.approvals.decide(waiting.id, APPROVE, "eve")).approval.status == "approved"


async def test_an_answer_takes_the_place_of_its_call(ledger: Place) -> None:
    """So that a full server can be emptied by deciding; a longer one than there is room for is not kept."""
    desk = Desk(ledger, 65_000)
    waiting = (await desk.ask("1", sent={"text": LONG + "y"}, text=LONG)).approval
    await desk.approvals.decide(waiting.id, APPROVE, "eve")

    with pytest.raises(TooManyApprovals):
        await desk.approvals.answer(waiting.id, ToolMessage(content=LONG * 3))
    running = (await desk.approvals.get(waiting.id)).is_running
    answered = await desk.approvals.answer(waiting.id, ToolMessage(content=LONG))

    assert (running, answered.is_running) == (True, False)
    assert (await desk.approvals.get(waiting.id)).approval.message == ToolMessage(content=LONG)


async def test_a_second_question_that_there_is_no_room_for_is_not_asked(ledger: Place) -> None:
    """The call is not left without an answer."""
    desk = Desk(ledger, 30_000)
    waiting = (await desk.ask(text=LONG)).approval
    await desk.approvals.decide(waiting.id, APPROVE, "eve")

    with pytest.raises(TooManyApprovals):
        await desk.approvals.reopen(waiting.id, Preview(payload=LONG))
    running = (await desk.approvals.get(waiting.id)).is_running
    await desk.approvals.answer(waiting.id, ToolMessage(content="failed"))

    assert running
    assert (await desk.approvals.get(waiting.id)).approval.message == ToolMessage(content="failed")


async def test_what_is_forgotten_gives_its_bytes_back(ledger: Place) -> None:
    """Answered or not."""
    desk = Desk(ledger, 51_000)
    first, _ = (await desk.ask("1", text=LONG)).approval, await desk.ask("2", text=LONG)
    await desk.approvals.decide(first.id, APPROVE, "eve")
    await desk.approvals.answer(first.id, ToolMessage(content="done"))
    desk.now = 10.0

    with pytest.raises(UnknownApproval):
        await desk.approvals.get(first.id)
    await desk.ask("3")

    assert 0 < await desk.taken() < 6_000


async def test_a_list_comes_in_pages(ledger: Place) -> None:
    """Each tells where the next begins, no matter what has become of the approvals before it."""
    desk = Desk(ledger, 1_000_000)
    for number in "12345":
        await desk.ask(number)
        desk.now += 1

    first, cursor = await desk.ids(limit=2)
    desk.now = 10.5
    second, after = await desk.ids(limit=2, cursor=cursor)

    assert (first, second) == (["1", "2"], ["3", "4"])
    assert await desk.ids(limit=2, cursor=after) == (["5"], None)
    assert await desk.ids(limit=4) == (["2", "3", "4", "5"], None)


async def test_the_pages_of_one_status_hold_that_one_only(ledger: Place) -> None:
    """And the last one leads nowhere."""
    desk = Desk(ledger, 1_000_000)
    for number in "1234":
        waiting = (await desk.ask(number)).approval
        if number in "13":
            await desk.approvals.decide(waiting.id, APPROVE, "eve")

    assert await desk.ids(status="pending", limit=1) == (["2"], "2")
    assert await desk.ids(status="pending", limit=1, cursor="2") == (["4"], None)


@pytest.mark.parametrize(("text", "is_shown"), [("x" * 4085, True), ("x" * 4086, False)])
async def test_a_list_leaves_large_arguments_and_answers_out(ledger: Place, text: str, is_shown: bool) -> None:
    """From 4 KiB on it says only how large they are."""
    desk = Desk(ledger, 1_000_000)
    waiting = (await desk.ask(text=text)).approval
    await desk.approvals.decide(waiting.id, APPROVE, "eve")
    message = ToolMessage(content=text * 2)
    await desk.approvals.answer(waiting.id, message)

    [listed] = (await desk.approvals.list("default")).approvals

    assert listed.tool_call.args == ({"text": text} if is_shown else None)
    assert listed.args_bytes == len(text) + 11
    assert (listed.message, listed.message_bytes) == (None, len(message.model_dump_json()))


async def test_a_page_ends_when_it_is_large(ledger: Place) -> None:
    """An id may be as long as a body; none is left out."""
    desk = Desk(ledger, 10_000_000)
    ids = [f"{number}{'x' * 600_000}" for number in range(3)]
    for long in ids:
        await desk.ask(long)

    assert await desk.ids() == (ids[:2], "2")
    assert await desk.ids(cursor="2") == (ids[2:], None)


async def test_in_memory_small_values_take_no_more_than_they_say() -> None:
    """As Python's objects, 15,000 empty objects take 50 times as much as JSON."""
    desk = Desk(InMemory(), 10_000_000)
    rows = [[{}] for _ in range(15_000)]
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()

    await desk.ask(rows=rows)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 75_000 < await desk.taken() < 90_000
    assert after - before < 150_000


@pytest.mark.parametrize("decision", [APPROVE, Decision(decision="reject")])
async def test_in_memory_there_is_always_room_for_a_decision_and_a_short_answer(decision: Decision) -> None:
    """Though not a byte is left beside the call that waits."""
    wide = Desk(InMemory(), 1_000_000)
    await wide.ask(text=LONG)
    most = await wide.taken()
    desk = Desk(InMemory(), most)
    waiting = (await desk.ask(text=LONG)).approval

    await desk.approvals.decide(waiting.id, decision, "eve")
    answered = await desk.approvals.answer(waiting.id, ToolMessage(content="n" * 1000))

    assert answered.approval.message is not None
    assert await desk.taken() <= most

"""What was decided and answered makes room for what waits: the oldest first, and no more than is needed."""

from typing import Any

import pytest

from sidecall import ToolMessage
from sidecall.features.approvals.record import Decision
from sidecall.kernel.core.errors import UnknownApproval
from sidecall.kernel.core.overload import TooManyApprovals
from sidecall.kernel.ports.approvals.approval import Approval
from tests.kit.ledgers import Place
from tests.storage.test_approvals_bytes import Desk

APPROVE, REJECT = Decision(decision="approve"), Decision(decision="reject", reason="No.")
LARGE = "x" * 50_000
NOT_KEPT = "Error: the call was answered, but its answer is not kept any more; it may have had effects."


async def _end(desk: Desk, id: str, decision: Decision = APPROVE, answer: Any = LARGE, **shown: Any) -> str:
    """Ask, decide and answer; return the id of the approval."""
    waiting = (await desk.ask(id, **shown)).approval
    await desk.approvals.decide(waiting.id, decision, "eve")
    await desk.approvals.answer(waiting.id, ToolMessage(content=answer, name="pay", tool_call_id=id, id="01"))
    return waiting.id


async def _read(desk: Desk, approval_id: str) -> Approval:
    return (await desk.approvals.get(approval_id)).approval


@pytest.mark.parametrize("decision", [APPROVE, REJECT])
@pytest.mark.parametrize("where", ["answer", "arguments"])
async def test_large_ones_never_fill_it(ledger: Place, decision: Decision, where: str) -> None:
    """However many were decided: the oldest give up their bytes, the latest are whole, and all are known."""
    desk = Desk(ledger, 400_000)
    given: Any = {"answer": LARGE} if where == "answer" else {"answer": "done", "text": LARGE}
    ids = [await _end(desk, str(number), decision, **given) for number in range(40)]
    approvals = [await _read(desk, approval_id) for approval_id in ids]

    assert await desk.taken() <= 400_000
    assert {(it.status, it.decided_by) for it in approvals} == {(approvals[0].status, "eve")}
    kept = [it.message is not None and it.message.content != NOT_KEPT for it in approvals]
    whole = kept if where == "answer" else [bool(it.tool_call.args) for it in approvals]
    assert whole == sorted(whole)
    assert 3 <= sum(whole) < 10


async def test_what_is_let_go_says_so(ledger: Place) -> None:
    """Its call is known again, and never runs a second time."""
    desk = Desk(ledger, 130_000)
    first = await _end(desk, "1", text=LARGE)

    await _end(desk, "2")
    again = await desk.ask("1", text=LARGE)

    assert again.approval.id == first
    assert not again.is_running
    message = again.approval.message
    assert message is not None
    assert (message.content, message.tool_call_id, message.name, message.status) == (NOT_KEPT, "1", "pay", "error")
    assert message.response_metadata["error"]["kind"] == "output_error"


async def test_the_oldest_of_many_are_forgotten(ledger: Place) -> None:
    """As many ended ones are kept as may wait, and never one that waits or runs is let go."""
    desk = Desk(ledger, 10_000_000)
    desk.approvals = ledger.approvals(10.0, 3, lambda: desk.now)
    running = (await desk.ask("running")).approval
    await desk.approvals.decide(running.id, APPROVE, "eve")
    waiting = (await desk.ask("waiting")).approval
    ended = [await _end(desk, str(number), answer="done") for number in range(6)]

    for gone in ended[:2]:
        with pytest.raises(UnknownApproval):
            await desk.approvals.get(gone)
    statuses = [(await _read(desk, it)).status for it in (waiting.id, running.id, *ended[2:])]
    assert statuses == ["pending", *["approved"] * 5]


async def test_what_waits_or_runs_makes_no_room(ledger: Place) -> None:
    """Only then is a call refused; and what has ended is not let go in vain."""
    desk = Desk(ledger, 250_000)
    ended = await _end(desk, "ended")
    for number in range(3):
        waiting = (await desk.ask(str(number), text=LARGE)).approval
        if number == 0:
            await desk.approvals.decide(waiting.id, APPROVE, "eve")

    with pytest.raises(TooManyApprovals):
        await desk.ask("more", text=LARGE * 2)
    before = (await _read(desk, ended)).message
    await desk.ask("less", text=LARGE)

    assert before is not None
    assert before.content == LARGE


@pytest.mark.parametrize("what", ["answer", "edit"])
async def test_an_answer_and_an_edit_find_room_as_well(ledger: Place, what: str) -> None:
    """As a new question does."""
    desk = Desk(ledger, 150_000)
    await _end(desk, "1")
    await _end(desk, "2")
    waiting = (await desk.ask("3")).approval
    edit = Decision(decision="approve", args={"text": LARGE}) if what == "edit" else APPROVE

    await desk.approvals.decide(waiting.id, edit, "eve")
    if what == "answer":
        await desk.approvals.answer(waiting.id, ToolMessage(content=LARGE))

    kept = await _read(desk, waiting.id)
    assert (kept.message.content if kept.message else kept.tool_call.args["text"]) == LARGE  # type: ignore[index]


async def test_long_ids_are_forgotten_with_their_records(ledger: Place) -> None:
    """They cannot be shortened, since their calls are known by them."""
    desk = Desk(ledger, 200_000)

    ids = [await _end(desk, str(number) * 10_000, answer="done") for number in range(6)]

    assert (await _read(desk, ids[-1])).status == "approved"
    with pytest.raises(UnknownApproval):
        await desk.approvals.get(ids[0])

"""Calls that wait for a person in a test, and how they go on."""

from typing import Annotated

import pytest

from sidecall import ApprovalRequired, ToolContext, UserToken, UserTokenRefused, tool
from sidecall.testing import ApprovalConflict, InvalidDecision, ToolTester


@tool(requires_approval=lambda args: args["amount"] > 100, preview=lambda amount: f"Would pay {amount}.")
async def pay(amount: int, context: ToolContext) -> str:
    """Pay money."""
    await context.progress(1, 2, "asked the bank")
    return f"Paid {amount}."


def test_a_call_waits_for_a_person() -> None:
    """Nothing has run, and the person sees what would."""
    answer = ToolTester(pay, caller="ada").call(amount=500)

    assert (answer.status, answer.progress, answer.error) == ("awaiting_approval", [], None)
    assert answer.approval is not None
    assert (answer.approval.name, answer.approval.args, answer.approval.preview) == (
        "pay",
        {"amount": 500},
        "Would pay 500.",
    )
    assert answer.approval.document.requested_by == "ada"


@pytest.mark.parametrize("is_short", [True, False])
def test_an_approved_call_runs(is_short: bool) -> None:
    """Its progress is that of the run."""
    waiting = ToolTester(pay).call(amount=500)
    assert waiting.approval is not None

    answer = waiting.approve() if is_short else waiting.approval.approve()

    assert (answer.status, answer.content, answer.approval) == ("success", "Paid 500.", None)
    assert [(it.done, it.total, it.message) for it in answer.progress] == [(1, 2, "asked the bank")]


def test_a_person_may_change_the_arguments() -> None:
    """Those that do not fit leave the call waiting."""
    waiting = ToolTester(pay).call(amount=500)

    with pytest.raises(InvalidDecision, match="amount"):
        waiting.approve(args={"amount": "much"})
    assert waiting.approve(args={"amount": 50}).content == "Paid 50."


def test_a_rejected_call_is_answered_with_the_reason() -> None:
    """A call is decided once."""
    waiting = ToolTester(pay).call(amount=500)

    answer = waiting.reject("Too much.")

    assert (answer.status, answer.content) == ("error", "Too much.")
    assert answer.error is not None
    assert answer.error.kind == "rejected"
    with pytest.raises(ApprovalConflict):
        waiting.approve()


def test_a_call_that_waits_for_no_person_cannot_be_approved() -> None:
    """The error says how it was answered."""
    answer = ToolTester(pay).call(amount=5)

    with pytest.raises(LookupError, match=r"it was answered: success, 'Paid 5\.'"):
        answer.approve()


@tool
def book(table: int, context: ToolContext) -> str:
    """Book a table, and ask twice."""
    if context.resumed is None:
        raise ApprovalRequired("Which day?", payload={"table": table}, state={"step": 1})
    if context.resumed["step"] == 1:
        raise ApprovalRequired("Really?", state={"step": 2, "day": context.reply})
    return f"Table {table} on {context.resumed['day']}: {context.rejection or 'booked'}"


def test_a_tool_that_asks_itself_is_answered_question_by_question() -> None:
    """It gets the person's words, and hears of a rejection."""
    first = ToolTester(book).call(table=7)
    assert first.approval is not None
    assert (first.approval.description, first.approval.payload) == ("Which day?", {"table": 7})

    second = first.approve(reason="Friday")
    assert second.approval is not None
    assert (second.status, second.approval.description, second.approval.question) == ("awaiting_approval", "Really?", 2)

    assert second.reject("no").content == "Table 7 on Friday: no"


@tool
def list_mail(token: Annotated[str, UserToken("mail")]) -> str:
    """List mail."""
    if token == "old":
        raise UserTokenRefused("mail")
    return f"a token of {len(token)} signs"


@pytest.mark.parametrize("tokens", [None, {"mail": "old"}, {"other": "token"}], ids=["none", "refused", "another's"])
def test_a_call_waits_for_a_sign_in(tokens: dict[str, str] | None) -> None:
    """It goes on with the token that the person gets."""
    waiting = ToolTester(list_mail, tokens=tokens).call()
    assert waiting.approval is not None
    assert waiting.approval.sign_in is not None
    assert waiting.approval.sign_in.provider == "mail"
    with pytest.raises(ApprovalConflict):
        waiting.approve()

    assert waiting.approval.complete_sign_in("fresh").content == "a token of 5 signs"


async def test_a_call_goes_on_in_async_code() -> None:
    """Each form has its virtual base."""
    waiting = [await ToolTester(pay).acall(amount=500) for _ in range(2)]

    approved, rejected = await waiting[0].aapprove(), await waiting[1].areject()

    assert (approved.content, rejected.status) == ("Paid 500.", "error")


def test_a_call_that_is_sent_again_waits_under_the_same_approval() -> None:
    """And is answered as before once a person has decided."""
    tester = ToolTester(pay)
    call = {"name": "pay", "args": {"amount": 500}, "id": "call_1"}

    first, second = tester.send(call), tester.send(call)
    first.approve()

    assert first.approval is not None
    assert second.approval is not None
    assert first.approval.id == second.approval.id
    assert tester.send(call).content == "Paid 500."

"""An approval says which call waits, and a decision what becomes of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from sidecall import Caller, ToolCall, ToolMessage
from sidecall.features.approvals.record import ApprovalRecord, Decision, compute_fingerprint
from sidecall.features.jobs.call_record import CallRecord
from sidecall.kernel.core.context import ANONYMOUS
from sidecall.kernel.core.errors import ApprovalConflict
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRequired

APPROVAL = Approval(
    id="7",
    tool_call=ToolCall(name="delete_order", args={"order": 7}, id="call_1"),
    requested_by="anonymous",
    created_at=datetime(2026, 11, 21, 10, tzinfo=UTC),
    expires_at=datetime(2026, 11, 21, 11, tzinfo=UTC),
)


def test_a_new_approval_is_pending() -> None:
    """Nobody has decided, and there is no answer yet."""
    assert APPROVAL.model_dump(mode="json") == {
        "id": "7",
        "status": "pending",
        "question": 1,
        "tool_call": {"name": "delete_order", "args": {"order": 7}, "id": "call_1", "type": "tool_call"},
        "requested_by": "anonymous",
        "conversation_id": None,
        "trace_id": None,
        "request_id": None,
        "created_at": "2026-11-21T10:00:00Z",
        "expires_at": "2026-11-21T11:00:00Z",
        "decided_at": None,
        "decided_by": None,
        "reason": None,
        "always": False,
        "description": None,
        "asked_args": None,
        "preview": None,
        "preview_error": None,
        "payload": None,
        "sign_in": None,
        "message": None,
        "tool_hash": None,
    }


def test_a_call_that_waits_says_for_what() -> None:
    """The approval goes with the error."""
    error = ApprovalRequired.of(APPROVAL)

    assert error.message == "delete_order waits for a person's approval (7)."
    assert error.approval is APPROVAL


def test_a_call_that_runs_already_says_so() -> None:
    """Nobody has to decide any more."""
    error = ApprovalRequired.of(APPROVAL.model_copy(update={"status": "approved"}))

    assert error.message == "delete_order was approved and still runs (7)."


def test_a_decision_may_be_the_one_word() -> None:
    """The call runs as it came."""
    assert Decision.model_validate({"decision": "approve"}).model_dump() == {
        "decision": "approve",
        "question": None,
        "args": None,
        "reason": None,
        "always": False,
        "expires_in": None,
        "hash": None,
    }


WRONG: list[Any] = [
    pytest.param({}, ("decision",), id="nothing"),
    pytest.param({"decision": "Approve"}, ("decision",), id="capital"),
    pytest.param({"decision": True}, ("decision",), id="bool"),
    pytest.param({"decision": "approve", "args": "{}"}, ("args",), id="text for args"),
    pytest.param({"decision": "reject", "reason": 5}, ("reason",), id="number for reason"),
    pytest.param({"decision": "reject", "reason": "x" * 10_001}, ("reason",), id="long reason"),
    # a person who misspells `args` must not have run what they meant to change
    pytest.param({"decision": "approve", "arguments": {"order": 8}}, ("arguments",), id="unknown member"),
]


@pytest.mark.parametrize(("given", "loc"), WRONG)
def test_a_wrong_decision_is_located(given: dict[str, Any], loc: tuple[str, ...]) -> None:
    """Nothing is guessed where a person has to be sure."""
    with pytest.raises(ValidationError) as caught:
        Decision.model_validate(given)

    assert [error["loc"] for error in caught.value.errors()] == [loc]


ASKED = ToolCall(name="delete", args={"order": 7}, id="call_1")


def _sent(
    sent: dict[str, Any],
    caller: Caller = ANONYMOUS,
    state: Any = None,
    context: dict[str, Any] | None = None,
    invocation: str = "invocation",
) -> CallRecord:
    call = ToolCall(**{"name": "delete", "args": {"order": 7, "lines": [1]}, "id": "call_1", **sent})
    return CallRecord.of(CallRequest(call, Sender(caller=caller), state, context or {}), invocation)


def _waiting() -> ApprovalRecord:
    return ApprovalRecord.of(_sent({}, Caller("ada", "acme")), ASKED, 10.0)


def test_a_call_that_waits_is_kept_with_what_a_person_sees_of_it() -> None:
    """And with whose it is."""
    record = _waiting()

    assert (record.tenant, record.asked, record.approval.tool_call) == ("acme", ASKED, ASKED)
    assert (record.approval.status, record.approval.requested_by) == ("pending", "ada")
    assert record.approval.expires_at - record.approval.created_at == timedelta(seconds=10)
    assert record.require_pending() is record.call


def test_a_record_can_be_written_down_in_every_state() -> None:
    """No matter what has become of the call."""
    waiting = _waiting()
    running = waiting.decide(Decision(decision="approve", args={"order": 8}, reason="Yes."), "eve")
    answered = running.answer(ToolMessage(content="done", tool_call_id="call_1"))

    for record in (waiting, running, answered):
        assert ApprovalRecord.model_validate_json(record.model_dump_json()) == record
    assert [record.is_running for record in (waiting, running, answered)] == [False, True, False]
    assert answered.call is None


def test_a_change_leaves_the_record_before_it_as_it_was() -> None:
    """A ledger keeps one of the two."""
    waiting = _waiting()

    decided = waiting.decide(Decision(decision="approve", args={"order": 8}), "eve")

    assert (waiting.approval.status, decided.approval.status) == ("pending", "approved")
    assert (waiting.approval.tool_call.args, decided.approval.tool_call.args) == ({"order": 7}, {"order": 8})
    assert decided.reopen() == waiting


def test_what_is_decided_is_not_decided_again() -> None:
    """Before anything is written."""
    decided = _waiting().decide(Decision(decision="reject"), "eve")

    with pytest.raises(ApprovalConflict, match=r"^The approval was rejected already, by eve\.$"):
        decided.decide(Decision(decision="approve"), "bo")


SAME: list[Any] = [
    pytest.param({}, {}, id="another invocation"),
    pytest.param({"args": '{"lines": [1], "order": 7}'}, {}, id="text"),
    pytest.param({"args": {"lines": [1], "order": 7}}, {}, id="other order of keys"),
    pytest.param({}, {"state": {"messages": ["more"]}}, id="state that moved on"),
]


@pytest.mark.parametrize(("sent", "beside"), SAME)
def test_the_same_call_has_the_same_fingerprint(sent: dict[str, Any], beside: dict[str, Any]) -> None:
    """However often it comes, and however it is written."""
    assert compute_fingerprint(_sent(sent, **beside)) == compute_fingerprint(_sent({}))


DIFFERENT: list[Any] = [
    pytest.param({"name": "create"}, {}, id="tool"),
    pytest.param({"id": "call_2"}, {}, id="call id"),
    pytest.param({"args": {"order": 8}}, {}, id="args"),
    pytest.param({"args": {"order": "7", "lines": [1]}}, {}, id="type of an argument"),
    pytest.param({"args": "{"}, {}, id="text that is no JSON"),
    pytest.param({}, {"caller": Caller("ada")}, id="caller"),
    pytest.param({}, {"caller": Caller(tenant="acme")}, id="tenant"),
    pytest.param({}, {"context": {"tenant": "acme"}}, id="context"),
    pytest.param({}, {"context": {"db": object()}}, id="object of the caller's process"),
]


@pytest.mark.parametrize(("sent", "beside"), DIFFERENT)
def test_a_call_that_differs_has_another_fingerprint(sent: dict[str, Any], beside: dict[str, Any]) -> None:
    """Nobody approves what they have not seen, and nobody gets the answer of another."""
    assert compute_fingerprint(_sent(sent, **beside)) != compute_fingerprint(_sent({}))


def test_a_call_without_an_id_is_like_no_other() -> None:
    """Two of them may well be meant."""
    first, second = _sent({"id": ""}), _sent({"id": ""}, invocation="another")

    assert compute_fingerprint(first) != compute_fingerprint(second)


def test_what_its_sender_knows_a_call_as_counts_in_place_of_its_id() -> None:
    """The id of the same call may differ each time."""
    known = [
        _sent({"id": call_id}).model_copy(update={"known_as": known_as})
        for call_id, known_as in (("1", "9"), ("2", "9"), ("1", None))
    ]
    first, second, plain = map(compute_fingerprint, known)

    assert first == second != plain

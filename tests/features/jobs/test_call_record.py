"""A call is written down with all that JSON can say, and read back as the same call."""

import json
import math
import time
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from starlette.datastructures import Headers

from sidecall import Caller, ToolCall, ToolMessage
from sidecall.features.jobs.call_record import CallNotRecorded, CallRecord
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.sender import Deadline, Sender
from sidecall.kernel.ports.approvals.review import Review

CALL = ToolCall(name="delete", args={"order": 7}, id="call_1")
REQUEST = CallRequest(
    CALL,
    Sender({"x-trace": "1"}, Caller("ada", "acme", frozenset({"write", "read"}))),
    {"user": {"name": "bö", "ages": [1, 2.5, None, True, 10**30]}},
    {"token": "t"},
)


def _reread(request: CallRequest) -> CallRecord:
    return CallRecord.from_json(CallRecord.of(request, "id").to_json())


def _as_sent(record: CallRecord) -> CallRequest:
    """Return the call without what only a record says of it."""
    return record.to_request().copy_sent(wants_value=False).copy_with(origin=None)


def test_a_call_is_read_back_as_it_was() -> None:
    """Who calls, what, and what came beside it."""
    record = CallRecord.of(REQUEST, "018f")

    again = CallRecord.from_json(record.to_json())

    assert again == record
    assert _as_sent(again) == REQUEST.copy_with(id="018f")


def test_the_deadline_of_a_call_can_be_kept() -> None:
    """On the clock that all machines share, for one that is run for its request alone."""
    deadline = Deadline(time.monotonic() + 60, 90.0)

    kept = CallRecord.of(REQUEST.copy_sent(deadline=deadline), "018f").keep_deadline(deadline)
    again = CallRecord.from_json(kept.to_json()).to_request().sender.deadline

    assert kept.due is not None
    assert kept.due[0] == pytest.approx(time.time() + 60, abs=5)
    assert again is not None
    assert (again.seconds, again.moment) == (90.0, pytest.approx(deadline.moment, abs=0.1))


def test_a_record_is_plain_json() -> None:
    """The same each time, so that it can be compared."""
    record = CallRecord.of(REQUEST, "018f").model_copy(update={"created_at": datetime(2026, 11, 21, tzinfo=UTC)})

    assert json.loads(record.to_json()) == {
        "id": "018f",
        "created_at": "2026-11-21T00:00:00Z",
        "tool_call": {"name": "delete", "args": {"order": 7}, "id": "call_1", "type": "tool_call"},
        "caller": {"subject": "ada", "tenant": "acme", "scopes": ["read", "write"]},
        "state": {"user": {"name": "bö", "ages": [1, 2.5, None, True, 10**30]}},
        "context": {"token": "t"},
        "headers": {"x-trace": "1"},
        "lost": [],
    }


def test_nothing_alive_is_kept() -> None:
    """Nobody listens to a call that is run later, and its deadline was for another answer."""

    class Gone:
        is_gone = True

    request = CallRequest(
        CALL,
        Sender(presence=Gone(), deadline=Deadline(1.0, 1.0)),
        review=Review(approved=True),
        listener=lambda *_: None,
    )

    assert _as_sent(CallRecord.of(request, "id")) == CallRequest(CALL, id="id")


def test_a_record_does_not_change_with_what_it_was_made_of() -> None:
    """A tool may change its state."""
    state: dict[str, Any] = {"list": [1]}
    record = CallRecord.of(CallRequest(CALL, state=state), "id")
    state["list"].append(2)

    assert record.state == {"list": [1]}


def test_headers_are_kept_by_their_names_in_lower_case() -> None:
    """Of one that came twice the first counts, as for a tool that looks it up."""
    received = Headers(raw=[(b"x-user", b"ada"), (b"x-user", b"eve"), (b"accept", b"*/*")])

    assert _reread(CallRequest(CALL, Sender(received))).headers == {"x-user": "ada", "accept": "*/*"}
    assert _reread(CallRequest(CALL, Sender({"X-User": "ada"}))).headers == {"x-user": "ada"}


@pytest.mark.parametrize("args", ['{"order": 7}', "not JSON", "", {}])
def test_arguments_are_kept_as_they_came(args: Any) -> None:
    """As text, too, which the pipeline decodes."""
    call = CALL.model_copy(update={"args": args})

    assert _reread(CallRequest(call)).to_request().call == call


def test_any_mapping_may_be_the_context() -> None:
    """A program in this process may have its own."""
    assert _reread(CallRequest(CALL, context=MappingProxyType({"a": 1}))).context == {"a": 1}


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _cyclic() -> Any:
    parent: dict[str, Any] = {"name": "p"}
    parent["children"] = [{"parent": parent}, {"parent": parent}]
    return parent


LOST: list[Any] = [
    pytest.param({"state": object()}, ["state"], None, id="object"),
    pytest.param({"state": {"a": [1, object()]}}, ["state.a[1]"], {"a": [1, None]}, id="object within"),
    pytest.param({"state": {1: "a"}}, ["state"], None, id="key that is no text"),
    pytest.param({"state": {"\udc80": "a"}}, ["state"], None, id="key without UTF-8"),
    pytest.param({"state": "\udc80"}, ["state"], None, id="text without UTF-8"),
    pytest.param({"state": (1, 2)}, ["state"], None, id="tuple, which would come back as a list"),
    pytest.param({"state": [math.nan, math.inf]}, ["state[0]", "state[1]"], [None, None], id="numbers"),
    pytest.param({"state": _nested(201)}, ["state" + "[0]" * 200], None, id="too deep"),
    pytest.param({"context": {"db": object()}}, ["context.db"], None, id="in the context"),
    pytest.param({"context": {1: "a"}}, ["context"], None, id="key of the context"),
    pytest.param({"call": CALL.model_copy(update={"args": {"x": object()}})}, ["args.x"], None, id="argument"),
]


@pytest.mark.parametrize(("given", "lost", "state"), LOST)
def test_what_json_cannot_say_is_named_and_not_guessed_at(given: dict[str, Any], lost: list[str], state: Any) -> None:
    """A call without it is another call, which is not run."""
    record = _reread(CallRequest(**{"call": CALL, **given}))

    assert list(record.lost) == lost
    assert state is None or record.state == state
    with pytest.raises(CallNotRecorded) as refused:
        record.to_request()
    places = ", ".join(f"`{place}`" for place in lost)
    assert str(refused.value) == f"The call cannot be run from its record: JSON cannot say {places}."


def test_what_leads_back_to_itself_is_left_out() -> None:
    """Each time it does."""
    record = _reread(CallRequest(CALL, state=_cyclic()))

    assert record.state == {"name": "p", "children": [{"parent": None}, {"parent": None}]}
    assert record.lost == ("state.children[0].parent", "state.children[1].parent")


def test_what_stands_in_two_places_is_kept_in_both() -> None:
    """It does not lead back to itself."""
    same = {"a": 1}

    assert _reread(CallRequest(CALL, state=[same, same])).to_request().state == [{"a": 1}, {"a": 1}]


def test_as_deep_as_json_from_outside_is_kept() -> None:
    """Within its record it stands deeper still."""
    call = CALL.model_copy(update={"args": {"x": _nested(199)}})
    request = CallRequest(call, state=_nested(200))

    assert _as_sent(_reread(request)) == request.copy_with(id="id")


@pytest.mark.parametrize("text", ["", "{}", "[]", "nope"])
def test_what_is_no_record_is_refused(text: str) -> None:
    """It may have been written by something else."""
    with pytest.raises(ValueError, match=r"."):
        CallRecord.from_json(text)


def test_an_answer_is_a_value_already() -> None:
    """It needs no record of its own."""
    message = ToolMessage(
        content=[{"type": "text", "text": "a"}, "b"],
        artifact={"rows": [1]},
        tool_call_id="call_1",
        name="delete",
        status="error",
        id="018f",
        response_metadata={"error": {"kind": "timeout"}},
    )

    assert ToolMessage.model_validate_json(message.model_dump_json()) == message


@pytest.mark.parametrize("name", ["X-User", "x-user", "X-USER"])
def test_headers_of_a_recorded_call_are_found_in_any_case(name: str) -> None:
    """A tool that looks one up need not know whether its call had to wait for a person."""
    headers = CallRecord.of(CallRequest(CALL, Sender({"X-User": "ada"})), "1").to_request().sender.headers

    assert (headers[name], headers.get(name), name in headers) == ("ada", "ada", True)
    assert (headers.get("X-Other", "none"), "X-Other" in headers) == ("none", False)


@pytest.mark.parametrize("name", ["Authorization", "Cookie", "proxy-authorization"])
def test_what_proves_who_somebody_is_is_not_kept(name: str) -> None:
    """It must not lie about longer than its request."""
    record = CallRecord.of(CallRequest(CALL, Sender({name: "secret", "X-User": "ada"})), "1")

    assert record.headers == {"x-user": "ada"}


def test_a_call_is_known_as_what_its_sender_says() -> None:
    """In place of its id, also once it is read back; a record of a call of which nothing is said is as it was."""
    records = [
        CallRecord.of(REQUEST.copy_with(call=replace_id(call_id), review=Review(known_as=known_as)), "018f")
        for call_id, known_as in (("call_1", "call_9"), ("call_2", "call_9"), ("call_1", None))
    ]
    again = [CallRecord.from_json(record.to_json()) for record in records]

    assert [record.to_request().review.known_as for record in again] == ["call_9", "call_9", None]
    assert "known_as" not in json.loads(records[2].to_json())


def replace_id(call_id: str) -> ToolCall:
    """Make the call of this id."""
    return CALL.model_copy(update={"id": call_id})

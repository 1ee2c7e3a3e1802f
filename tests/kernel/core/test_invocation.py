"""A call on its way has an id that sorts by time and a deadline."""

import time
import uuid

import pytest

from sidecall import ToolContext, tool
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.invocation import new_invocation, new_invocation_id
from sidecall.kernel.core.sender import Deadline
from sidecall.kernel.core.services import NO_SERVICES, CallServices, ToolResources
from tests.kit.calls import write_request

REQUEST = write_request("wait", state=1, context={"a": 2}, headers={"h": "3"})


def test_ids_are_uuids_that_sort_by_time() -> None:
    """Version 7."""
    first, second = new_invocation_id(), new_invocation_id()

    assert uuid.UUID(first).version == 7
    assert first < second


@pytest.mark.parametrize(
    ("own", "default", "expected"),
    [
        (None, None, None),
        (None, 30.0, 30.0),
        (5.0, 30.0, 5.0),
        (5.0, None, 5.0),
    ],
)
def test_a_tools_own_timeout_beats_the_servers(
    own: float | None, default: float | None, expected: float | None
) -> None:
    """Without either it may run for ever."""
    wait = tool("wait", timeout=own, description="Wait.")(lambda: None)

    invocation = new_invocation(REQUEST, wait.compiled, default)
    allowed = None if invocation.deadline is None else round(invocation.deadline - invocation.started, 6)

    assert allowed == expected


@pytest.mark.parametrize(
    ("own", "callers", "expected"), [(2.0, 1.0, 1.0), (2.0, 3.0, 2.0), (None, 3.0, 3.0), (2.0, -1.0, -1.0)]
)
def test_a_caller_may_shorten_the_time_and_never_lengthen_it(
    own: float | None, callers: float, expected: float
) -> None:
    """What its request has spent already is lost."""
    wait = tool("wait", timeout=own, description="Wait.")(lambda: None)
    before = time.monotonic()

    invocation = new_invocation(REQUEST.copy_sent(deadline=Deadline(before + callers, callers)), wait.compiled, None)
    after = time.monotonic()

    assert invocation.deadline is not None
    assert before + expected <= invocation.deadline <= after + expected


def test_a_call_carries_what_it_may_be_injected_with() -> None:
    """The tool's view of the call is made of it."""
    wait = tool("wait", description="Wait.")(lambda: None)
    invocation = new_invocation(REQUEST, wait.compiled, None)

    supply = invocation.supply()

    assert (supply.call_id, supply.state, supply.context) == ("call_1", 1, {"a": 2})
    assert supply.tool_context == ToolContext(
        tool_name="wait",
        tool_call_id="call_1",
        invocation_id=invocation.id,
        state=1,
        context={"a": 2},
        headers={"h": "3"},
    )


def test_whoever_asks_about_a_call_is_told_the_same() -> None:
    """The tool, its guardrails and its handlers share one context."""
    wait = tool("wait", description="Wait.")(lambda: None)
    invocation = new_invocation(REQUEST, wait.compiled, 30.0)

    assert invocation.tool_context is invocation.tool_context
    assert invocation.supply().tool_context is invocation.tool_context
    assert invocation.tool_context.deadline == invocation.deadline


def test_a_call_knows_where_it_is() -> None:
    """The store and the secrets are the server's; without one there are only variables."""
    wait = tool("wait", description="Wait.")(lambda: None)
    store = ItemStore(MemoryItems())

    on_server = new_invocation(REQUEST, wait.compiled, None, CallServices(ToolResources(store, {"KEY": "s3cret"}.get)))
    nowhere = new_invocation(REQUEST, wait.compiled, None)

    assert on_server.tool_context.store is store
    assert on_server.supply().secrets("KEY", "either") == "s3cret"
    assert (nowhere.tool_context.store, nowhere.services) == (None, NO_SERVICES)
    assert nowhere.supply().secrets("NO_SUCH_VARIABLE", "either") is None


def test_what_is_injected_is_not_visible() -> None:
    """Policies and guardrails see what the model sent."""

    def look(query: str, context: ToolContext) -> str:
        return f"{query} {context.tool_name}"

    invocation = new_invocation(REQUEST, tool("look", description="Look.")(look).compiled, None)
    invocation.values = {"query": "q", "context": invocation.tool_context}

    assert invocation.visible_values == {"query": "q"}


def test_a_request_is_not_approved_unless_somebody_says_so() -> None:
    """It comes from an anonymous program with nothing beside it."""
    request = write_request("wait")

    assert request.review.approved is False
    assert (request.sender.caller.subject, request.state, request.context, request.sender.headers) == (
        "anonymous",
        None,
        {},
        {},
    )

"""A batch says in a header which of its calls wait, with any ids."""

import json
from typing import Any
from urllib.parse import unquote

import pytest

from sidecall import ToolMessage, tool
from sidecall.http.answer_headers import waiting_headers
from tests.kit.calls import without_tool
from tests.kit.clients import MakeClient
from tests.kit.events import events_in


def _waiting(call_id: str, approval_id: str = "a", kind: str = "approval_required") -> ToolMessage:
    told = {"approval_id": approval_id, "error": {"kind": kind}}
    return ToolMessage(content="", tool_call_id=call_id, status="error", response_metadata=told)


WRITTEN: list[Any] = [
    pytest.param([], {}, id="none"),
    pytest.param([_waiting("1", kind="tool_error")], {}, id="a tool that says so itself"),
    pytest.param([ToolMessage(content="", response_metadata={"approval_id": "a"})], {}, id="a success"),
    pytest.param(
        [_waiting("call_1"), ToolMessage(content="done", tool_call_id="2"), _waiting("call_3", "b")],
        {"X-Sidecall-Approvals": "call_1=a, call_3=b"},
        id="some",
    ),
    pytest.param([_waiting("1"), _waiting("1")], {"X-Sidecall-Approvals": "1=a"}, id="the same"),
    pytest.param(
        [_waiting("ü,\r\nX: y=*")], {"X-Sidecall-Approvals": "%C3%BC%2C%0D%0AX%3A%20y%3D%2A=a"}, id="hostile id"
    ),
]


@pytest.mark.parametrize(("messages", "headers"), WRITTEN)
def test_the_header_names_the_calls_that_wait(messages: list[ToolMessage], headers: dict[str, str]) -> None:
    """And the approvals that they wait for."""
    assert waiting_headers(messages) == headers


def test_the_header_has_a_bound() -> None:
    """What has no room is counted; servers in between refuse long headers."""
    first, *_, last = waiting_headers([_waiting(f"call_{number}", "a" * 36) for number in range(100)])[
        "X-Sidecall-Approvals"
    ].split(", ")
    long = waiting_headers([_waiting("x" * 100_000), _waiting("2")])

    assert (first, last) == ("call_0=" + "a" * 36, "*=33")
    assert long == {"X-Sidecall-Approvals": "*=2"}


@pytest.mark.parametrize("form", ["langchain", "openai", "openai-responses", "anthropic", "gemini"])
async def test_a_batch_in_any_dialect_says_which_calls_wait(make_client: MakeClient, form: str) -> None:
    """So that the program finds the approval without reading what the model reads."""

    @tool(requires_approval=lambda args: args["amount"] > 100)
    async def refund(amount: float) -> str:
        """Pay money back.

        Args:
            amount: How much.
        """
        return f"Refunded {amount:g}."

    client = await make_client(refund)
    calls = [{"name": "refund", "args": {"amount": amount}, "id": f"call {amount}"} for amount in (20, 500)]

    response = await client.post("/tool_calls/batch", json=calls, params={"format": form})
    call_id, _, approval_id = response.headers["X-Sidecall-Approvals"].partition("=")
    await client.post(f"/approvals/{approval_id}", json={"decision": "approve"})
    again = await client.post("/tool_calls/batch", json=calls, params={"format": form})

    assert unquote(call_id) == "call 500"
    assert "Refunded 500." in again.text
    assert "X-Sidecall-Approvals" not in again.headers


@pytest.mark.parametrize("form", ["langchain", "openai", "openai-responses", "anthropic", "gemini"])
async def test_a_batch_as_events_has_an_event_for_each_call_that_waits(make_client: MakeClient, form: str) -> None:
    """Before the answer in its place, and just as a single call is told; its headers are sent before it is known."""

    @tool(requires_approval=lambda args: args["order"] > 1)
    async def delete(order: int) -> str:
        """Delete an order."""
        return f"Deleted {order}."

    client = await make_client(delete)
    calls = [{"name": "delete", "args": {"order": order}, "id": f"call {order}"} for order in (1, 2, 3)]

    answer = await client.post(
        "/tool_calls/batch", json=calls, params={"format": form}, headers={"Accept": "text/event-stream"}
    )
    events = events_in(answer.text)
    waiting = [told for name, told in events if name == "approval"]

    assert sorted(approval["tool_call"]["id"] for approval in waiting) == ["call 2", "call 3"]
    assert sorted(name for name, _ in events) == ["approval"] * 2 + ["message"] * 3
    for approval in waiting:
        place = events.index(("approval", approval))
        name, message = events[place + 1]
        assert (name, approval["id"] in json.dumps(message)) == ("message", True)
        assert without_tool((await client.get(f"/approvals/{approval['id']}")).json()) == approval

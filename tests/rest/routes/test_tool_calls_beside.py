"""What the calling program supplies stands beside the call, out of the model's reach."""

from typing import Annotated, Any

import pytest

from sidecall import InjectedState, InjectedToolArg, InjectedToolCallId, ToolContext, tool
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem


@tool
async def whoami(
    question: str,
    call_id: Annotated[str, InjectedToolCallId],
    state: Annotated[dict[str, Any], InjectedState],
    tenant: Annotated[str, InjectedToolArg],
    context: ToolContext,
) -> dict[str, Any]:
    """Say what was injected.

    Args:
        question: What the model asks.
        call_id: The call.
        state: The state.
        tenant: From the context.
        context: The rest.
    """
    trace = context.headers.get("x-trace")
    return {"question": question, "call": call_id, "state": state, "tenant": tenant, "trace": trace}


SUPPLIED: dict[str, Any] = {"state": {"user": "ada"}, "context": {"tenant": "acme"}}
FORGED = {"question": "?", "tenant": "forged", "state": {}, "call_id": "forged", "context": {}}


@pytest.mark.parametrize(
    "call",
    [
        {"name": "whoami", "args": FORGED, "id": "1"},
        {"function": {"name": "whoami", "arguments": FORGED}, "id": "1"},
        {"type": "function_call", "name": "whoami", "arguments": FORGED, "call_id": "1"},
        {"type": "tool_use", "name": "whoami", "input": FORGED, "id": "1"},
    ],
    ids=["langchain", "openai", "openai-responses", "anthropic"],
)
async def test_what_the_program_supplies_stands_beside_the_call(make_client: MakeClient, call: dict[str, Any]) -> None:
    """In every dialect; what the model sends in its place is dropped and reported."""
    client = await make_client(whoami)

    response = await client.post(
        "/tool_calls", params={"format": "langchain"}, json={**call, **SUPPLIED}, headers={"X-Trace": "t1"}
    )

    assert response.json()["content"] == (
        '{"question": "?", "call": "1", "state": {"user": "ada"}, "tenant": "acme", "trace": "t1"}'
    )
    assert response.json()["response_metadata"]["ignored_args"] == ["call_id", "context", "state", "tenant"]


@pytest.mark.parametrize(
    ("beside", "detail"),
    [
        (
            {"context": {"tenant": "acme"}},
            "The tool needs `state` beside the call, for its parameter `state`.",
        ),
        (
            {"state": {}, "context": None},
            "The tool needs `context.tenant` beside the call, for its parameter `tenant`.",
        ),
        (
            {"state": {}, "context": {"tenant": 7}},
            "The tool cannot use what was sent as `context.tenant`: Input should be a valid string.",
        ),
    ],
)
async def test_what_the_program_owes_is_a_problem(make_client: MakeClient, beside: dict[str, Any], detail: str) -> None:
    """The model could not mend it, so it is never told."""
    client = await make_client(whoami)

    response = await client.post("/tool_calls", json={"name": "whoami", "args": {"question": "?"}, **beside})

    assert response.status_code == 422
    assert read_problem(response) == ("missing-context", detail)

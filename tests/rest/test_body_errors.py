"""What is wrong with a body is said by its members, never by classes of ours."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.kit.clients import MakeClient


@tool(requires_approval=True)
async def delete(order: int) -> str:
    """Delete."""
    return f"deleted {order}"


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Serve a call that waits, a workspace, and files to be searched."""
    return await make_client(delete, toolkits=("file_search",))


_TERM = 'Send {"expires_after": {"anchor": "last_active_at", "minutes": 60}}.'
_REPLAY = 'The body may be left out, or be {"insist": true}: '
# Each would be described and sent back, which took the event loop half a second for the most that a body may hold.
STRANGE = {f"k{number}": 1 for number in range(2000)}
MANY = "2,000 members are unknown or wrong; send those that the contract names"
SHELL = {"type": "shell_call", "call_id": "1", "action": {"commands": [1] * 2000}}


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("/approvals/{approval}", [], "The body is not a decision: `body`: Input should be a JSON object."),
        ("/approvals/{approval}", 7, "The body is not a decision: `body`: Input should be a JSON object."),
        (
            "/approvals/{approval}",
            {"decision": "approve", "args": [7]},
            "The body is not a decision: `args`: Input should be a JSON object.",
        ),
        ("/tool_calls/{call}/replay", [], _REPLAY + "`body`: Input should be a JSON object."),
        ("/tool_calls/{call}/replay", {"insist": 1}, _REPLAY + "`insist`: Input should be a valid boolean."),
        ("/workspaces/one", [], f"`body`: Input should be a JSON object. {_TERM}"),
        ("/workspaces/one", {"expires_after": 5}, f"`expires_after`: Input should be a JSON object. {_TERM}"),
        ("/workspaces/one", {"expires_after": {}}, f"`expires_after.minutes`: Field required. {_TERM}"),
        (
            "/workspaces/one/files",
            [],
            "`body`: Input should be a JSON object. Send a form with `file`, or a `file_id`.",
        ),
        ("/vector_stores", [], "`body`: Input should be a JSON object."),
        ("/approvals/{approval}", {"decision": "reject", **STRANGE}, f"The body is not a decision: `body`: {MANY}."),
        ("/tool_calls/{call}/replay", STRANGE, f"{_REPLAY}`body`: {MANY}."),
        ("/vector_stores", STRANGE, f"`body`: {MANY}."),
        ("/vector_stores/vs_1", STRANGE, f"`body`: {MANY}."),
        ("/tool_calls", SHELL, f"The call has the form of shell_call, but {MANY}."),
        ("/vector_stores", {"chunking_strategy": 5}, "`chunking_strategy`: Input should be a JSON object."),
        (
            "/vector_stores",
            {"chunking_strategy": {"type": "static", "static": 5}},
            "`chunking_strategy.static`: Input should be a JSON object.",
        ),
        (
            "/vector_stores",
            {"chunking_strategy": {"type": "static"}},
            "`chunking_strategy.static`: Field required.",
        ),
        ("/vector_stores", {"metadata": {"": "a"}}, "`metadata.`: String should have at least 1 character."),
    ],
)
async def test_a_body_that_does_not_fit_is_explained(
    client: httpx.AsyncClient, path: str, body: Any, detail: str
) -> None:
    """In words of JSON."""
    call = {"name": "delete", "args": {"order": 7}, "id": "1"}
    accepted = await client.post("/tool_calls", json=call, headers={"Prefer": "respond-async"})
    waiting = (await client.get(accepted.headers["Location"], headers={"Prefer": "wait=0"})).json()
    while waiting.get("approval_id") is None:
        waiting = (await client.get(accepted.headers["Location"], headers={"Prefer": "wait=1"})).json()
    await client.post("/workspaces/one/files", files={"file": ("a", b"a")})

    refused = await client.post(path.format(approval=waiting["approval_id"], call=waiting["id"]), json=body)

    assert (refused.status_code, refused.json()["detail"]) == (422, detail)

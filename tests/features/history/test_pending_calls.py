"""What is noted of a call is what was sent, no matter what its tool makes of that."""

import json
from typing import Any

import pytest

from sidecall import ToolContext, tool
from sidecall.features.history.history import History
from sidecall.features.history.memory_store import HistoryBounds, MemoryBlocks
from sidecall.features.history.packing import Packer
from sidecall.features.history.pending_calls import PendingCalls
from sidecall.features.history.redactor import CallRedactor
from sidecall.features.telemetry.redact import Redaction
from sidecall.kernel.core.invocation import CallRequest, new_invocation
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.ports.call_entry import CallFilter
from tests.kit.clients import MakeClient


@tool
async def fill(options: Any, rows: list[Any]) -> str:
    """Change what it is given.

    Args:
        options: What to change.
        rows: What else to change.
    """
    options["added"] = 1
    rows[0].append(2)
    return "filled"


@tool
async def rename(name: str, context: ToolContext) -> str:
    """Change what it is told of its call.

    Args:
        name: What.
        context: Of the call.
    """
    assert isinstance(context.args, dict)
    context.args["name"] = "other"
    return name


async def list_args(make_client: MakeClient, body: dict[str, Any]) -> Any:
    """Call a tool, and return the arguments that the history has of it."""
    client = await make_client(fill, rename, store="memory://")
    assert (await client.post("/tool_calls", json=body)).status_code == 200
    [entry] = (await client.get("/tool_calls")).json()
    return entry["args"]


SENT = {"options": {"size": 1}, "rows": [["a"], {"b": None}]}


@pytest.mark.parametrize(
    "body",
    [
        {"name": "fill", "args": SENT, "id": "1"},
        {"type": "function_call", "name": "fill", "arguments": json.dumps(SENT), "call_id": "1"},
        {"type": "function_call", "name": "fill", "arguments": f"```json\n{json.dumps(SENT)}\n```", "call_id": "1"},
    ],
    ids=["object", "text", "mended text"],
)
async def test_containers_are_kept_as_they_were_sent(make_client: MakeClient, body: dict[str, Any]) -> None:
    """No matter in which form they came."""
    assert await list_args(make_client, body) == {"options": {"size": 1}, "rows": [["a"], {"b": None}]}


async def test_what_a_tool_is_told_of_its_call_is_a_copy(make_client: MakeClient) -> None:
    """It may do with it what it likes."""
    assert await list_args(make_client, {"name": "rename", "args": {"name": "own"}, "id": "1"}) == {"name": "own"}


async def test_a_call_is_repeated_as_it_was_sent(make_client: MakeClient) -> None:
    """And not as its tool has left it."""
    client = await make_client(fill, store="memory://", drain_timeout=0)
    first = (await client.post("/tool_calls", json={"name": "fill", "args": SENT, "id": "1"})).json()["id"]

    again = await client.post(f"/tool_calls/{first}/replay", json={"insist": True}, headers={"Prefer": "wait=10"})

    shown = (await client.get(f"/tool_calls/{again.json()['id']}")).json()
    assert (shown["status"], shown["args"]) == ("succeeded", SENT)


BOUNDS = HistoryBounds(1e9, 1000, 10_000_000)
ROWS = [{"number": number, "text": f"value {number}"} for number in range(2000)]
# The name that makes the value a secret stands 30,000 characters behind it.
SECRET = [{"value": "hunter2", "filler": "x" * 30_000, "name": "password"}]


@pytest.mark.parametrize(
    ("value", "begins", "is_aside"),
    [
        (ROWS, '[{"number": 0, "text": "value 0"}, ', True),
        (SECRET, '[{"value":"[redacted]","filler":"xxxx', True),
        (ROWS[:3], '[{"number": 0, "text": "value 0"}, ', False),
        ("x" * 50_000, "xxxx", False),
    ],
    ids=["long JSON", "a secret that is named late", "short JSON", "a long text"],
)
async def test_long_json_is_copied_beside_the_event_loop(value: Any, begins: str, is_aside: bool) -> None:
    """It is read whole for names of secrets, which takes longer than a call; a reader waits for it."""
    content = value if isinstance(value, str) else json.dumps(value)
    notes = PendingCalls(1_000_000, CallRedactor(Redaction(), 1000))
    history = History(notes, Packer(), MemoryBlocks(BOUNDS), 1e9)
    invocation = new_invocation(CallRequest(ToolCall(name="rename", args={}, id="1")), rename.compiled, None)
    invocation.message = ToolMessage(content=content, tool_call_id="1", name="rename")

    notes.note(invocation, "success", 0.001)
    waiting = len(notes)
    [entry] = (await history.list(CallFilter("default"), 10, None)).calls

    assert entry.message is not None
    assert waiting == (0 if is_aside else 1)
    assert str(entry.message.content).startswith(begins)
    assert "hunter2" not in str(entry.message.content)
    assert history.dropped == 0

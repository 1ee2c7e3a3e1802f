"""A call that its model was cut off writing is not run, and answered in its own form."""

from typing import Any

import pytest

from sidecall import tool
from tests.features.native_tools.rest.built_in import (
    CALLER,
    CHECK,
    RAN,
    TOOLS,
    write_computer_call,
    write_patch_call,
    write_shell_call,
    write_tool_use,
)
from tests.features.native_tools.rest.openai_rows import BLANK
from tests.kit.clients import MakeClient

HALF = {"status": "incomplete"}


@tool("pay", requires_approval=True)
async def pay(order: int = 0) -> str:
    """Pay an order."""
    RAN.append(order)
    return "paid"


@tool("ship", idempotency="tool_call_id")
async def ship(order: int) -> str:
    """Ship an order."""
    RAN.append(order)
    return f"shipped {order}"


SAID = "The call was cut off before its end, so nothing has run. Send it again as a whole."
CUSTOM = {"type": "custom_tool_call", "call_id": "c1", "name": "add", "input": "1 + "}
FUNCTION = {"type": "function_call", "call_id": "c1", "name": "pay", "arguments": ""}
STEP = {"type": "function_call", "id": "c1", "name": "pay", "arguments": {}}
CHAT = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": ""}}
CHAT_CUSTOM = {"id": "c1", "type": "custom", "custom": {"name": "add", "input": "1 + "}}
LOCAL = {"type": "local_shell_call", "id": "l1", "call_id": "c1", "action": {"type": "exec", "command": ["rm"]}}
SEARCH = {"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {"query": "a"}}
COMPUTER = write_computer_call({"type": "click"}, pending_safety_checks=[CHECK])
OUTPUT = {"call_id": "c1"}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "is_error": True}
# What is sent, what of the answer is there, and where in it the model is told.
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "custom": (CUSTOM, {**OUTPUT, "type": "custom_tool_call_output"}, "output"),
    "function": (
        {**FUNCTION, "caller": CALLER},
        {**OUTPUT, "type": "function_call_output", "caller": CALLER},
        "output",
    ),
    "shell": (write_shell_call("ls", "rm"), {**OUTPUT, "type": "shell_call_output"}, "output.1.stderr"),
    "local shell": (LOCAL, {**OUTPUT, "type": "local_shell_call_output", "status": "incomplete"}, "output"),
    "patch": (write_patch_call("a"), {**OUTPUT, "type": "apply_patch_call_output", "status": "failed"}, "output"),
    "computer": (
        COMPUTER,
        {**OUTPUT, "status": "incomplete", "output": {"type": "computer_screenshot", "image_url": BLANK}},
        "",
    ),
    "search": (SEARCH, {**OUTPUT, "type": "tool_search_output", "tools": []}, ""),
    "chat": (CHAT, {"role": "tool", "tool_call_id": "c1"}, "content"),
    "chat, custom": (CHAT_CUSTOM, {"role": "tool", "tool_call_id": "c1"}, "content"),
    "tool_use": (write_tool_use("pay"), RESULT, "content"),
    "tool_use of bash": (write_tool_use("bash", command="rm"), RESULT, "content"),
    "tool_use of a toolset": (
        write_tool_use("key", toolset_name="browser", text="a"),
        {**RESULT, "toolset_name": "browser"},
        "content",
    ),
    "gemini": ({"functionCall": {"id": "c1", "name": "pay", "args": {}}}, {}, "functionResponse.response.error"),
    "gemini, step": (STEP, {**OUTPUT, "type": "function_result", "is_error": True}, "result"),
    "langchain": ({"name": "pay", "args": {}, "id": "c1"}, {"tool_call_id": "c1", "status": "error"}, "content"),
}


def _follow(answer: Any, path: str) -> Any:
    for name in path.split("."):
        answer = answer[int(name)] if isinstance(answer, list) else answer[name]
    return answer


@pytest.mark.parametrize("status", ["incomplete", "in_progress"])
async def test_nothing_of_it_runs_and_the_model_is_told(make_client: MakeClient, status: str) -> None:
    """No matter what it was to be; nobody is asked to approve it."""
    client = await make_client(*TOOLS, pay)
    before = list(RAN)
    for row, (call, expected, place) in ROWS.items():
        response = await client.post("/tool_calls", json={**call, "status": status})
        answer = response.json()
        told = _follow(answer, place) if place else response.headers["Sidecall-Error"]
        assert (response.status_code, SAID in told) == (200, True), row
        assert expected.items() <= answer.items(), row
    assert before == RAN


async def test_the_kind_is_that_of_other_arguments_that_are_no_whole(make_client: MakeClient) -> None:
    """And what is to be sent is said, in batches and dry runs too."""
    client = await make_client(pay)
    call = {"name": "pay", "args": {}, "id": "c1", **HALF}

    (answer,) = (await client.post("/tool_calls/batch", json={"calls": [call]})).json()
    dry = (await client.post("/tool_calls", params={"dry_run": "true"}, json=call)).json()

    error = answer["response_metadata"]["error"]
    assert (error["kind"], error["message"]) == ("malformed_arguments", answer["content"])
    assert answer["content"] == SAID
    assert (dry["would_run"], dry["message"]["content"]) == (False, answer["content"])


@pytest.mark.parametrize("status", [None, "completed", "calling"])
async def test_a_call_that_is_whole_runs(make_client: MakeClient, status: str | None) -> None:
    """As before."""
    client = await make_client(*TOOLS)
    answer = (await client.post("/tool_calls", json={**CUSTOM, "input": "1 + 2", "status": status})).json()
    assert answer["output"] == "3"


@pytest.mark.parametrize("headers", [{"Idempotency-Key": "k"}, {"Idempotency-Key": "k", "Prefer": "wait=20"}, {}])
@pytest.mark.parametrize("in_batch", [False, True])
async def test_nothing_is_kept_under_its_key(make_client: MakeClient, headers: dict[str, str], in_batch: bool) -> None:
    """Neither that which its program sent nor its id: they are for the whole call, which runs once, when it comes."""
    client = await make_client(ship)
    RAN.clear()
    whole = {"type": "function_call", "call_id": "c1", "name": "ship", "arguments": '{"order": 7}'}

    if in_batch:
        [half] = (await client.post("/tool_calls/batch", json=[{**whole, **HALF}])).json()
    else:
        half = (await client.post("/tool_calls", json={**whole, **HALF}, headers=headers)).json()
    answers = [await client.post("/tool_calls", json=whole, headers=headers) for _ in range(2)]
    late = await client.post("/tool_calls", json={**whole, **HALF}, headers=headers)

    assert SAID in half["output"]
    assert [answer.json()["output"] for answer in answers] == ["shipped 7"] * 2
    assert [answer.headers.get("Idempotency-Replayed") for answer in (*answers, late)] == [None, "true", None]
    assert (SAID in late.json()["output"], RAN) == (True, [7])

"""A tool is called from where its author lets it be called, as with the OpenAI Agents SDK."""

import json
from typing import Any

import pytest

from sidecall import ToolContext, function_tool, tool
from sidecall.kernel.core.messages import ToolMessage
from tests.kit.clients import MakeClient

PROGRAM = {"type": "program", "caller_id": "prog_1"}
DIRECT = {"type": "direct"}


def rate(currency: str) -> float:
    """Look up a rate."""
    return 1.5


def make(*callers: str, name: str = "rate") -> Any:
    """Make a tool that names these."""
    return function_tool(name_override=name, allowed_callers=list(callers) or None)(rate)


def write_item(name: str = "rate", **members: Any) -> dict[str, Any]:
    """Write a call as the Responses API does."""
    arguments = json.dumps({"currency": "EUR"})
    return {"type": "function_call", "call_id": "call_1", "name": name, "arguments": arguments, **members}


@pytest.mark.parametrize(
    ("callers", "caller", "refused"),
    [
        ((), None, None),
        ((), PROGRAM, None),
        (("direct",), None, None),
        (("direct",), DIRECT, None),
        (("direct",), PROGRAM, "by programs that the model writes; it can be called directly."),
        (("programmatic",), PROGRAM, None),
        (("programmatic",), None, "directly; it can be called by programs that the model writes."),
        (("programmatic",), DIRECT, "directly; it can be called by programs that the model writes."),
        (("direct", "programmatic"), None, None),
        (("programmatic", "direct"), PROGRAM, None),
        (
            ("direct", "programmatic"),
            {"type": "other"},
            "by a caller of the type 'other'; it can be called directly or by programs that the model writes.",
        ),
    ],
)
async def test_a_call_is_refused_that_comes_from_elsewhere(
    make_client: MakeClient, callers: tuple[str, ...], caller: Any, refused: str | None
) -> None:
    """And runs otherwise; the answer goes back to the program in either case."""
    client = await make_client(make(*callers))
    members = {} if caller is None else {"caller": caller}

    answer = (await client.post("/tool_calls", json=write_item(**members))).json()

    assert answer["output"] == ("1.5" if refused is None else f"rate cannot be called {refused}")
    assert answer.get("caller") == caller


CALLS = [
    pytest.param({"type": "tool_call", "name": "rate", "args": {"currency": "EUR"}, "id": "1"}, id="langchain"),
    pytest.param(
        {"type": "function", "id": "1", "function": {"name": "rate", "arguments": '{"currency": "EUR"}'}}, id="openai"
    ),
    pytest.param({"type": "tool_use", "id": "1", "name": "rate", "input": {"currency": "EUR"}}, id="anthropic"),
    pytest.param(write_item(), id="openai-responses"),
]


@pytest.mark.parametrize("call", CALLS)
async def test_where_no_program_is_known_the_model_calls(make_client: MakeClient, call: Any) -> None:
    """In any dialect."""
    client = await make_client(make("programmatic"))

    answer = await client.post("/tool_calls?format=langchain", json=call)

    assert answer.json()["response_metadata"]["error"]["kind"] == "denied"


@pytest.mark.parametrize("door", ["batch", "stream", "job", "dry run"])
async def test_it_is_kept_at_every_door(make_client: MakeClient, door: str) -> None:
    """For each call by itself."""
    client = await make_client(make("programmatic"), make("direct", name="plain"))
    words = "rate cannot be called directly"

    if door == "batch":
        calls = [write_item(), write_item(caller=PROGRAM), write_item("plain")]
        answers = (await client.post("/tool_calls/batch", json=calls)).json()
        assert [it["output"][: len(words)] for it in answers] == [words, "1.5", "1.5"]
    elif door == "stream":
        answer = await client.post("/tool_calls", json=write_item(), headers={"Accept": "text/event-stream"})
        assert words in answer.text
    elif door == "job":
        accepted = await client.post("/tool_calls", json=write_item(), headers={"Prefer": "respond-async"})
        job = await client.get(accepted.headers["Location"], headers={"Prefer": "wait=5"})
        assert words in job.text
    else:
        answer = await client.post("/tool_calls?dry_run=true", json=write_item())
        assert answer.json()["would_run"] is False


async def test_it_is_kept_by_any_tool_that_says_so() -> None:
    """Words of other providers are theirs to keep."""
    ours = tool(extras={"allowed_callers": ["programmatic"]})(rate)
    theirs = tool(extras={"allowed_callers": ["code_execution_20260120"]})(rate)
    call = {"type": "tool_call", "name": "rate", "args": {"currency": "EUR"}, "id": "1"}

    messages: list[ToolMessage] = [await it.ainvoke(call) for it in (ours, theirs)]

    assert [it.status for it in messages] == ["error", "success"]


async def test_a_program_in_this_process_may_always_call() -> None:
    """By its arguments, and as the SDK's unit tests do."""
    made = make("programmatic")
    context: ToolContext[Any] = ToolContext(context=None, tool_name="rate", tool_call_id="1")

    assert await made.ainvoke({"currency": "EUR"}) == 1.5
    assert await made.ainvoke("EUR") == 1.5
    assert await made.on_invoke_tool(context, '{"currency": "EUR"}') == 1.5

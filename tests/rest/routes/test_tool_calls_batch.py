"""The calls of one turn run together, and each is answered in its place."""

import asyncio
import threading
from typing import Annotated, Any

import pytest

from sidecall import InjectedToolArg, ToolException, tool
from tests.kit.clients import MakeClient
from tests.kit.events import events_in
from tests.kit.problems import read_problem
from tests.kit.tools import echo


@tool
async def crash() -> str:
    """Fail."""
    raise RuntimeError("password=hunter2")


@tool
async def refuse() -> str:
    """Refuse."""
    raise ToolException("no")


@tool
async def owing(tenant: Annotated[str, InjectedToolArg]) -> str:
    """Need something of the program.

    Args:
        tenant: For whom.
    """
    return tenant


def call(name: str, number: int, /, **args: Any) -> dict[str, Any]:
    """Write a call as LangChain does."""
    return {"name": name, "args": args, "id": f"call_{number}", "type": "tool_call"}


async def test_async_tools_run_concurrently(make_client: MakeClient) -> None:
    """Neither of two tools that wait for each other could end alone."""
    barrier = asyncio.Barrier(2)

    @tool
    async def meet(name: str) -> str:
        """Wait for the other."""
        await barrier.wait()
        return name

    client = await make_client(meet, tool_timeout=10)

    response = await client.post("/tool_calls/batch", json=[call("meet", 1, name="a"), call("meet", 2, name="b")])

    assert [message["content"] for message in response.json()] == ["a", "b"]


async def test_sync_tools_run_concurrently(make_client: MakeClient) -> None:
    """In threads of the server's own."""
    barrier = threading.Barrier(2, timeout=10)

    @tool
    def meet(name: str) -> str:
        """Wait for the other."""
        barrier.wait()
        return name

    client = await make_client(meet, threads=2)

    response = await client.post("/tool_calls/batch", json=[call("meet", 1, name="a"), call("meet", 2, name="b")])

    assert [message["content"] for message in response.json()] == ["a", "b"]


async def test_answers_have_the_order_of_the_calls(make_client: MakeClient) -> None:
    """Though the first can only end after the second."""
    is_second_over = asyncio.Event()

    @tool
    async def first() -> str:
        """End last."""
        await is_second_over.wait()
        return "first"

    @tool
    async def second() -> str:
        """End first."""
        is_second_over.set()
        return "second"

    client = await make_client(first, second, tool_timeout=10)

    response = await client.post("/tool_calls/batch", json=[call("first", 1), call("second", 2)])

    assert [(message["tool_call_id"], message["content"]) for message in response.json()] == [
        ("call_1", "first"),
        ("call_2", "second"),
    ]


async def test_one_that_fails_harms_no_other(make_client: MakeClient) -> None:
    """No matter how it fails, the siblings are answered as if they were alone."""
    client = await make_client(echo, crash, refuse, owing)
    calls = [
        call("echo", 1, text="first"),
        call("ecco", 2),
        call("echo", 3),
        call("crash", 4),
        call("refuse", 5),
        {**call("owing", 7), "context": {"tenant": "acme"}},
        call("echo", 8, text="last"),
    ]

    response = await client.post("/tool_calls/batch", json=calls)
    messages = response.json()

    assert response.status_code == 200
    assert [message["tool_call_id"] for message in messages] == [f"call_{number}" for number in (1, 2, 3, 4, 5, 7, 8)]
    assert [(message["status"], message["content"]) for message in messages] == [
        ("success", "first"),
        ("error", "Error: ecco is not a valid tool, try one of [echo, crash, refuse, owing]. Did you mean echo?"),
        ("error", "text: Field required (string)"),
        ("error", "Error: crash failed unexpectedly (call call_4). The details are in the server's log."),
        ("error", "no"),
        ("success", "acme"),
        ("success", "last"),
    ]


async def test_what_the_program_left_out_is_told_to_the_program(make_client: MakeClient) -> None:
    """Before any call is run, since the model can do nothing about it; what stands once for all is enough."""
    client = await make_client(echo, owing)
    calls = [call("echo", 1, text="a"), call("owing", 2), {**call("owing", 3), "context": {"tenant": "own"}}]
    missing = "The tool needs `context.tenant` beside the call, for its parameter `tenant`."

    refused = await client.post("/tool_calls/batch", json=calls)
    streamed = await client.post("/tool_calls/batch", json=calls, headers={"Accept": "text/event-stream"})
    answered = await client.post("/tool_calls/batch", json={"calls": calls, "context": {"tenant": "acme"}})

    for problem in (refused, streamed):
        assert (problem.status_code, problem.json()["type"]) == (422, "urn:sidecall:problem:missing-context")
        assert problem.json()["errors"] == [{"loc": [1], "type": "missing_context", "msg": missing}]
        assert problem.json()["detail"] == f"Nothing was run: [1] {missing}"
    assert [message["content"] for message in answered.json()] == ["a", "acme", "own"]


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_what_the_program_left_out_is_an_answer_where_it_is_wanted(make_client: MakeClient, accept: str) -> None:
    """In the place of the call, and the others run."""
    client = await make_client(echo, owing)
    calls = [call("echo", 1, text="a"), call("owing", 2), {**call("owing", 3), "context": {"tenant": "own"}}]

    answer = await client.post("/tool_calls/batch?missing_context=error", json=calls, headers={"Accept": accept})
    events = events_in(answer.text) if "event" in accept else []
    messages = [data for name, data in events if name == "message"] or answer.json()

    found = {message["tool_call_id"]: message for message in messages}
    assert answer.status_code == 200
    assert [found[f"call_{number}"]["content"] for number in (1, 3)] == ["a", "own"]
    missing = found["call_2"]
    assert missing["content"] == "The tool needs `context.tenant` beside the call, for its parameter `tenant`."
    error = missing["response_metadata"]["error"]
    assert (missing["status"], error["kind"], error["retryable"]) == ("error", "missing_context", False)


async def test_another_word_for_what_is_missing_is_refused(make_client: MakeClient) -> None:
    """With the words that there are."""
    client = await make_client(echo)

    answer = await client.post("/tool_calls/batch?missing_context=skip", json=[call("echo", 1, text="a")])

    assert answer.status_code == 422
    assert "'refuse' or 'error'" in answer.json()["detail"]


async def test_a_tool_that_a_caller_does_not_see_needs_nothing(make_client: MakeClient) -> None:
    """It is answered as one that does not exist."""

    @tool(is_enabled=lambda _caller: False)
    async def secret(tenant: Annotated[str, InjectedToolArg]) -> str:
        """Be hidden."""
        return tenant

    client = await make_client(secret)

    (message,) = (await client.post("/tool_calls/batch", json=[call("secret", 1)])).json()

    assert message["response_metadata"]["error"]["kind"] == "unknown_tool"


MIXED = [
    call("echo", 1, text="a"),
    {"id": "call_2", "type": "function", "function": {"name": "echo", "arguments": '{"text": "b"}'}},
    {"type": "function_call", "call_id": "call_3", "name": "echo", "arguments": '{"text": "c"}'},
    {"type": "tool_use", "id": "call_4", "name": "refuse", "input": {}},
]


async def test_each_is_answered_in_its_own_dialect(make_client: MakeClient) -> None:
    """One batch may mix all four."""
    client = await make_client(echo, refuse)

    first, *others = (await client.post("/tool_calls/batch", json=MIXED)).json()

    assert (first["type"], first["content"]) == ("tool", "a")
    assert others == [
        {"role": "tool", "tool_call_id": "call_2", "content": "b"},
        {"type": "function_call_output", "call_id": "call_3", "output": "c"},
        {"type": "tool_result", "tool_use_id": "call_4", "content": "no", "is_error": True},
    ]


async def test_one_dialect_can_be_chosen_for_all(make_client: MakeClient) -> None:
    """`format` beats the form of each call."""
    client = await make_client(echo, refuse)

    response = await client.post("/tool_calls/batch?format=openai", json=MIXED)

    assert response.json() == [
        {"role": "tool", "tool_call_id": "call_1", "content": "a"},
        {"role": "tool", "tool_call_id": "call_2", "content": "b"},
        {"role": "tool", "tool_call_id": "call_3", "content": "c"},
        {"role": "tool", "tool_call_id": "call_4", "content": "no"},
    ]


async def test_no_calls_have_no_answers(make_client: MakeClient) -> None:
    """A turn without calls is no mistake."""
    client = await make_client()

    response = await client.post("/tool_calls/batch", json=[])

    assert response.status_code == 200
    assert response.json() == []


async def test_the_same_call_may_stand_twice(make_client: MakeClient) -> None:
    """Ids are the caller's own business."""
    client = await make_client(echo)

    response = await client.post("/tool_calls/batch", json=[call("echo", 1, text="a"), call("echo", 1, text="a")])

    assert [message["content"] for message in response.json()] == ["a", "a"]


async def test_a_batch_of_the_limit_is_run(make_client: MakeClient) -> None:
    """The limit itself is allowed."""
    client = await make_client(echo, max_batch=2)

    response = await client.post("/tool_calls/batch", json=[call("echo", 1, text="a"), call("echo", 2, text="b")])

    assert response.status_code == 200


async def test_a_batch_over_the_limit_is_refused(make_client: MakeClient) -> None:
    """The problem names both numbers."""
    client = await make_client(echo, max_batch=2)

    response = await client.post("/tool_calls/batch", json=[call("echo", number, text="a") for number in range(3)])

    assert response.status_code == 422
    assert read_problem(response) == ("batch-too-large", "The batch holds 3 calls; this server takes 2 at once.")


async def test_nothing_is_run_when_one_is_no_call(make_client: MakeClient) -> None:
    """The problem says which, so that the program can send the batch again without harm."""
    runs: list[str] = []

    @tool
    async def note() -> str:
        """Leave a trace."""
        runs.append("ran")
        return "ran"

    client = await make_client(note)

    response = await client.post("/tool_calls/batch", json=[call("note", 1), {"name": "note"}, call("note", 2), []])
    problem = response.json()

    assert response.status_code == 422
    assert problem["type"] == "urn:sidecall:problem:not-a-tool-call"
    assert problem["detail"].startswith("Nothing was run: [1] The body is not a call.")
    assert [error["loc"] for error in problem["errors"]] == [[1], [3]]
    assert runs == []


async def test_what_has_no_right_form_is_shown_none(make_client: MakeClient) -> None:
    """A call that the provider has run already cannot be mended."""
    client = await make_client(echo)
    refused = (await client.post("/tool_calls/batch", json=[{"type": "web_search_call"}])).json()

    assert "was already executed by the provider (OpenAI)" in refused["detail"]
    assert "example" not in refused


async def test_a_misspelt_type_is_told_the_right_one(make_client: MakeClient) -> None:
    """Also that of a built-in tool."""
    client = await make_client(echo)
    refused = (await client.post("/tool_calls", json={"type": "shel_call"})).json()

    assert refused["detail"].startswith('The body is not a call. Did you mean "shell_call"? A call has one of these')


@pytest.mark.parametrize("body", ["{}", '{"name": "echo", "args": {}}', "null", '"x"', "7"])
async def test_what_is_no_array_is_refused(make_client: MakeClient, body: str) -> None:
    """With the way to the route for one call."""
    client = await make_client(echo)

    response = await client.post("/tool_calls/batch", content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == 422
    wanted = 'A batch is a JSON array of calls, or {"calls": [...]}; send one call to POST /tool_calls.'
    assert response.json()["detail"] == wanted

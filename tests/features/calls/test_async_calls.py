"""Calls of OpenAI's Responses API that a model does not wait for."""

from typing import Any

import pytest
from openai.types.responses import ResponseFunctionToolCall

from sidecall import BaseTool, tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, GO, RAN, charge, index, wait_for
from tests.kit.waiting import until

CALL = {"type": "function_call", "call_id": "call_1", "name": "wait_for", "arguments": '{"name": "a"}'}
WRITTEN = ResponseFunctionToolCall.model_validate({**CALL, "async": True})


@pytest.mark.parametrize(
    "call",
    [
        pytest.param({**CALL, "async": True}, id="as the API says it"),
        pytest.param(WRITTEN.to_dict(), id="as OpenAI's library writes it"),
        pytest.param(WRITTEN.model_dump(), id="as it writes it without aliases"),
    ],
)
async def test_an_async_call_is_answered_at_once(serve: MakeClient, call: dict[str, Any]) -> None:
    """With where to ask for it; its output comes from there, and until then there is none for the model."""
    client = await serve(wait_for)

    accepted = await client.post("/tool_calls", json=call)
    await until(lambda: RAN["a"] > 0)
    GO["a"].set()
    place, form = accepted.headers["Location"], {"format": "openai-responses"}
    ended = await client.get(place, headers={"Prefer": "wait=20"}, params=form)

    assert (accepted.status_code, accepted.json()["status"], accepted.json()["message"]) == (202, "running", None)
    assert "Preference-Applied" not in accepted.headers
    assert ended.json()["message"] == {"type": "function_call_output", "call_id": "call_1", "output": "a went"}


@pytest.mark.parametrize("said", [{}, {"async": False}, {"async": None}, {"async_": None}])
async def test_other_calls_are_waited_for(serve: MakeClient, said: dict[str, Any]) -> None:
    """Those of which the model waits for the output."""
    client = await serve(charge)

    answer = await client.post("/tool_calls", json={**CALL, "name": "charge", "arguments": '{"order": "a"}', **said})

    assert (answer.status_code, answer.json()["output"]) == (200, "charged a for the 1. time")


async def test_an_async_call_may_be_waited_for_all_the_same(serve: MakeClient) -> None:
    """With `Prefer: wait`, in a batch, and as events; a dry run says what it would do."""
    client = await serve(charge)
    call = {**CALL, "name": "charge", "arguments": '{"order": "a"}', "async": True}

    waited = await client.post("/tool_calls", json=call, headers={"Prefer": "wait=20"})
    batch = await client.post("/tool_calls/batch", json=[call])
    events = await client.post("/tool_calls", json=call, headers={"Accept": "text/event-stream"})
    rehearsed = await client.post("/tool_calls?dry_run=true", json=call)

    assert (waited.status_code, waited.json()["output"]) == (200, "charged a for the 1. time")
    assert [answer["output"] for answer in batch.json()] == ["charged a for the 2. time"]
    assert "charged a for the 3. time" in events.text
    assert rehearsed.json()["would_run"] is True


@pytest.mark.parametrize("wrong", ["yes", 1, {}])
async def test_what_is_no_boolean_is_refused(serve: MakeClient, wrong: Any) -> None:
    """Nobody can tell whether such a call is to be waited for."""
    client = await serve(wait_for)

    refused = await client.post("/tool_calls", json={**CALL, "async": wrong})

    assert (refused.status_code, refused.json()["type"]) == (422, "urn:sidecall:problem:not-a-tool-call")
    assert RAN["a"] == 0


async def test_a_key_and_a_preference_go_with_it(serve: MakeClient) -> None:
    """The call runs once, however often it is sent."""
    client = await serve(wait_for)
    headers = {**ASYNC, "Idempotency-Key": "k"}

    answers = [await client.post("/tool_calls", json={**CALL, "async": True}, headers=headers) for _ in range(2)]
    await until(lambda: "a" in GO)
    GO["a"].set()

    assert [answer.status_code for answer in answers] == [202, 202]
    assert len({answer.headers["Location"] for answer in answers}) == 1


@tool(background=True, extras={"async": False})
async def quiet() -> str:
    """Go on alone, while the model's turn waits."""
    return "done"


@tool(extras={"async": True})
async def slow() -> str:
    """Let the model go on, where it is OpenAI's."""
    return "done"


@pytest.mark.parametrize(("offered", "said"), [(index, True), (slow, True), (quiet, False), (charge, None)])
async def test_a_definition_says_that_the_model_need_not_wait(
    serve: MakeClient, offered: BaseTool, said: bool | None
) -> None:
    """In the one form that has room for it, of background tools unless their author says otherwise."""
    client = await serve(offered)

    [responses] = (await client.get("/tools?format=openai-responses")).json()
    [chat] = (await client.get("/tools")).json()

    assert responses.get("async") == said
    assert "async" not in chat
    assert "async" not in chat["function"]

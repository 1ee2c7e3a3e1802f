"""Remembered calls whose failure reaches the calling program, or whose arguments cannot be shown."""

import asyncio
from typing import Any

import pytest

from sidecall import ToolException, ToolGuardrailFunctionOutput, ToolOutputGuardrailData, tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import RAN, charge, key, send


@tool(handle_tool_error=None)
async def fail_through(order: str) -> str:
    """Fail, and let the calling program know.

    Args:
        order: Which.
    """
    RAN[order] += 1
    raise ToolException(f"no money for {order}", retryable=True)


@tool(timeout=0.01, timeout_behavior="raise")
async def last_long(order: str) -> None:
    """Take too long, and let the calling program know.

    Args:
        order: Which.
    """
    RAN[order] += 1
    await asyncio.Event().wait()


def refuse(judged: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
    """Refuse what a tool says."""
    return ToolGuardrailFunctionOutput.raise_exception({"said": judged.output})


@tool(tool_output_guardrails=[refuse])
async def say_too_much(order: str) -> str:
    """Say what must not be said.

    Args:
        order: Which.
    """
    RAN[order] += 1
    return "too much"


THROUGH: list[Any] = [
    pytest.param(fail_through, 500, "tool-call-failed", "tool_error", id="a failure"),
    pytest.param(last_long, 500, "tool-call-failed", "timeout", id="a timeout"),
    pytest.param(say_too_much, 403, "guardrail-tripped", "denied", id="a guardrail"),
]


@pytest.mark.parametrize(("failing", "status", "problem", "kind"), THROUGH)
async def test_a_failure_that_goes_through_is_the_end_of_its_call(
    serve: MakeClient, failing: Any, status: int, problem: str, kind: str
) -> None:
    """It runs once with a key, is told the same each time, and is listed."""
    client = await serve(failing)

    answers = [await send(client, failing.name, headers=key("k"), order="a") for _ in range(3)]
    problems = [{**answer.json(), "instance": None} for answer in answers]
    listed = (await client.get("/tool_calls")).json()

    assert RAN["a"] == 1
    assert [answer.status_code for answer in answers] == [status] * 3
    assert problems[0]["type"] == f"urn:sidecall:problem:{problem}"
    assert problems == [problems[0]] * 3
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, "true", "true"]
    assert [(it["status"], it["kind"]) for it in listed] == [("failed", kind)]


@pytest.mark.parametrize(("failing", "status", "problem", "kind"), THROUGH)
async def test_a_client_of_openapi_is_told_the_same_again(
    serve: MakeClient, failing: Any, status: int, problem: str, kind: str
) -> None:
    """And that it is told again."""
    client = await serve(failing)

    path = f"/tools/{failing.name}/call"
    answers = [await client.post(path, json={"order": "a"}, headers=key("k")) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [status] * 2
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, "true"]


@pytest.mark.parametrize(("failing", "status", "problem", "kind"), THROUGH)
async def test_a_client_that_waits_for_a_while_reads_it_in_a_message(
    serve: MakeClient, failing: Any, status: int, problem: str, kind: str
) -> None:
    """Which says what others are told."""
    client = await serve(failing)

    answers = [
        await send(client, failing.name, headers={**key("k"), "Prefer": "wait=20"}, order="a"),
        await send(client, failing.name, headers={**key("k"), "Prefer": "wait=20"}, order="a"),
    ]
    error = answers[0].json()["response_metadata"]["error"]
    told = await send(client, failing.name, headers=key("k"), order="a")

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content
    assert (answers[0].json()["status"], error["kind"]) == ("error", kind)
    assert error["problem"]["type"] == told.json()["type"] == f"urn:sidecall:problem:{problem}"
    assert (told.status_code, RAN["a"]) == (status, 1)


@pytest.mark.parametrize("arguments", ['{"order": "\\ud800"}', '{"\\udfff": 1}', '["\\ud800"]', "\\ud800"])
@pytest.mark.parametrize("headers", [{"Prefer": "wait=20"}, key("k")])
async def test_arguments_that_have_no_utf_8_form_are_refused_as_ever(
    serve: MakeClient, headers: dict[str, str], arguments: str
) -> None:
    """And listed, without them."""
    client = await serve(charge)
    call = {"id": "call_1", "type": "function", "function": {"name": "charge", "arguments": arguments}}

    plain = await client.post("/tool_calls", json=call)
    remembered = await client.post("/tool_calls", json=call, headers=headers)
    listed = await client.get("/tool_calls?status=failed")

    assert (remembered.status_code, remembered.json()["content"]) == (200, plain.json()["content"])
    assert listed.status_code == 200
    assert "malformed_arguments" in {it["kind"] for it in listed.json()}

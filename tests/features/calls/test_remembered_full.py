"""Remembered calls that find no room for what a person would have to approve."""

from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, ToolAnnotations, tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, RAN, key, refund, send

FULL = "So many calls wait for a person's approval that this server takes no more."


@tool
async def ask(order: str) -> str:
    """Ask a person about an order.

    Args:
        order: Which.
    """
    RAN[order] += 1
    raise ApprovalRequired("Really?")


@tool(annotations=ToolAnnotations(idempotent=True))
async def ask_often(order: str) -> str:
    """Ask a person about an order, of which no harm comes.

    Args:
        order: Which.
    """
    RAN[order] += 1
    raise ApprovalRequired("Really?")


async def serve_full(serve: MakeClient, asking: Any) -> httpx.AsyncClient:
    """Make a client of a server which takes no more approvals."""
    client = await serve(asking, max_approvals=1)
    assert (await send(client, asking.name, order="first")).status_code == 202
    return client


@pytest.mark.parametrize("asking", [ask, ask_often, refund])
async def test_a_job_that_finds_no_room_has_ended(serve: MakeClient, asking: Any) -> None:
    """It neither runs again nor comes again: a person has to make room first."""
    client = await serve_full(serve, asking)

    sent = await send(client, asking.name, headers=ASYNC, order="second")
    ended = (await client.get(sent.headers["Location"], headers={"Prefer": "wait=20"})).json()

    assert (ended["status"], ended["kind"], ended["attempt"]) == ("failed", "overloaded", 1)
    assert ended["message"]["content"] == FULL
    error = ended["message"]["response_metadata"]["error"]
    assert (error["retryable"], error["retry_after_ms"]) == (True, 60_000)
    assert RAN["second"] == (0 if asking is refund else 1)


async def test_who_prefers_to_wait_reads_it(serve: MakeClient) -> None:
    """As the answer."""
    client = await serve_full(serve, ask)

    answer = await send(client, "ask", headers={"Prefer": "wait=20"}, order="second")

    assert (answer.status_code, answer.json()["content"], RAN["second"]) == (200, FULL, 1)


async def test_a_key_stands_for_one_run_also_of_a_tool_that_could_not_ask(serve: MakeClient) -> None:
    """What stands before its question may have had effects."""
    client = await serve_full(serve, ask)

    answers = [await send(client, "ask", headers=key("k"), order="second") for _ in range(2)]

    assert [(answer.status_code, answer.json()["content"]) for answer in answers] == [(200, FULL)] * 2
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, "true"]
    assert RAN["second"] == 1


@pytest.mark.parametrize(("asking", "runs"), [(ask_often, 2), (refund, 0)])
async def test_a_key_is_free_where_nothing_runs_twice_that_must_not(serve: MakeClient, asking: Any, runs: int) -> None:
    """The client comes again with it."""
    client = await serve_full(serve, asking)

    answers = [await send(client, asking.name, headers=key("k"), order="second") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [503, 503]
    assert [answer.headers["Retry-After"] for answer in answers] == ["60", "60"]
    assert RAN["second"] == runs

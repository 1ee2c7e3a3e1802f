"""What calls cost is shown in answers, in the history and in its sums, and by the metrics."""

import asyncio
import threading
from typing import Any

import pytest

from sidecall import ToolContext, tool
from tests.features.costs.priced import (
    add,
    asking,
    broken,
    cached,
    fixed,
    free,
    in_process,
    in_thread,
    job,
    judged,
    late_in_process,
    pay,
    plain,
    retried,
    send,
)
from tests.kit.clients import MakeClient

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("name", "args", "cost"),
    [
        ("fixed", {}, 0.25),
        ("fixed", {"text": "fail"}, 0.25),
        ("fixed", {"text": 7}, 0.0),
        ("add", {"amounts": [0.1, 0.1, 0.1]}, 0.3),
        ("add", {"amounts": []}, None),
        ("in_thread", {"amounts": [0.1, 0.2]}, 0.3),
        ("in_process", {"amounts": [0.1, 0.2]}, 0.3),
        ("in_process", {"amounts": [1, -1, 1]}, 1.0),
        ("broken", {}, 0.75),
        ("retried", {}, 1.25),
        ("judged", {}, 0.125),
        ("free", {}, 0.0),
        ("plain", {}, None),
    ],
)
async def test_answers_say_what_their_calls_cost(
    make_client: MakeClient, name: str, args: dict[str, Any], cost: float | None
) -> None:
    """Those of failed calls too; of those that were refused before they began, nothing."""
    client = await make_client(fixed, add, in_thread, in_process, broken, retried, judged, free, plain)

    assert await pay(client, name, **args) == cost


async def test_a_cached_answer_costs_nothing(make_client: MakeClient) -> None:
    """Of calls that share a run, one pays."""
    client = await make_client(cached)

    together = await asyncio.gather(*(pay(client, "cached", text="a") for _ in range(3)))
    later = await pay(client, "cached", text="a")

    assert (sorted(together, key=lambda cost: cost or 0), later) == ([0.0, 0.0, 0.25], 0.0)


async def test_history_sums_and_metrics_have_it(make_client: MakeClient, store: str) -> None:
    """Wherever they are kept."""
    client = await make_client(fixed, add, plain, store=store)
    costs = [
        await pay(client, name, **args)
        for name, args in [("fixed", {}), ("fixed", {}), ("add", {"amounts": [0.1, 0.2]}), ("plain", {})]
    ]

    [newest, *rest] = (await client.get("/tool_calls")).json()
    one = (await client.get(f"/tool_calls/{rest[0]['id']}")).json()
    sums = {
        by: (await client.get(f"/tool_calls/summary?by={by}")).json() for by in ("name", "caller", "status", "hour")
    }
    metrics = (await client.get("/metrics")).text

    assert costs == [0.25, 0.25, 0.3, None]
    assert (newest["cost"], [row["cost"] for row in rest]) == (0.0, [0.3, 0.25, 0.25])
    assert (one["cost"], one["message"]["response_metadata"]["cost"]) == (0.3, 0.3)
    assert {group["value"]: group["cost"] for group in sums["name"]["groups"]} == {"fixed": 0.5, "add": 0.3, "plain": 0}
    assert [(sums[by]["total"]["cost"], sums[by]["groups"][0]["cost"]) for by in ("caller", "status", "hour")] == [
        (0.8, 0.8)
    ] * 3
    assert [line for line in metrics.splitlines() if line.startswith("sidecall_cost_total")] == [
        'sidecall_cost_total{tool="fixed"} 0.5',
        'sidecall_cost_total{tool="add"} 0.3',
    ]


async def test_the_log_line_of_a_call_has_it(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    """Where the answer has it, too."""
    client = await make_client(fixed, add, free, plain, log_calls=True)
    caplog.set_level("INFO", "sidecall")

    for name, args in [
        ("fixed", {}),
        ("add", {"amounts": [0.1, 0.2]}),
        ("free", {}),
        ("plain", {}),
        ("fixed", {"x": 1}),
    ]:
        await send(client, name, **args)
    lines = [vars(record) for record in caplog.records if vars(record).get("event") == "tool call"]

    assert [(line["tool"], line.get("cost")) for line in lines] == [
        *(("fixed", 0.25), ("add", 0.3), ("free", 0.0), ("plain", None), ("fixed", 0.25)),
    ]


async def test_a_tool_in_a_process_knows_what_its_call_has_cost(make_client: MakeClient) -> None:
    """Its price included."""
    client = await make_client(late_in_process)

    answer = (await send(client, "late_in_process", rounds=2)).json()

    assert answer["content"] == "0.377"


async def test_a_remembered_call_has_it(make_client: MakeClient, store: str) -> None:
    """In its entry, alone and in lists."""
    client = await make_client(job, store=store)
    begun = (await send(client, "job")).json()

    ended = (await client.get(f"/tool_calls/{begun['id']}", headers={"Prefer": "wait=30"})).json()
    [listed] = (await client.get("/tool_calls")).json()

    assert (begun["cost"], ended["cost"], listed["cost"]) == (None, 0.75, 0.75)
    assert ended["message"]["response_metadata"]["cost"] == 0.75


async def test_a_call_that_asks_in_the_middle_costs_for_each_run(make_client: MakeClient) -> None:
    """The answer says what the last one cost."""
    client = await make_client(asking)
    asked = (await send(client, "asking")).json()

    decided = (await client.post(f"/approvals/{asked['id']}", json={"decision": "approve"})).json()
    metrics = (await client.get("/metrics")).text

    assert decided["message"]["response_metadata"]["cost"] == 0.75
    assert 'sidecall_cost_total{tool="asking"} 1.5' in metrics


async def test_what_comes_after_the_end_is_in_the_metric(make_client: MakeClient) -> None:
    """As when a thread goes on after its deadline."""
    answered, added = threading.Event(), threading.Event()

    @tool(timeout=0.05)
    def slow(context: ToolContext) -> str:
        """Go on for too long."""
        context.add_cost(0.5)
        answered.wait(30)
        context.add_cost(0.25)
        added.set()
        return "done"

    client = await make_client(slow)
    answer = (await send(client, "slow")).json()
    answered.set()
    await asyncio.to_thread(added.wait, 30)
    metrics = (await client.get("/metrics")).text

    assert (answer["response_metadata"]["error"]["kind"], answer["response_metadata"]["cost"]) == ("timeout", 0.5)
    assert 'sidecall_cost_total{tool="slow"} 0.75' in metrics


async def test_clients_of_mcp_may_ask_for_it(make_client: MakeClient) -> None:
    """With the rest of what is said of the call."""
    client = await make_client(fixed)
    call = {"name": "fixed", "arguments": {}, "_meta": {"sidecall/call": True}}
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}

    answer = await client.post(
        "/mcp",
        json=sent,
        headers={"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"},
    )

    assert answer.json()["result"]["_meta"]["sidecall/call"]["cost"] == 0.25

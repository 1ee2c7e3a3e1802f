"""A call that needs approval may be sent again at any time: it waits once, runs once, and has one answer."""

import asyncio
from typing import Any

import pytest

from sidecall import StructuredTool, ToolGuardrailFunctionOutput, ToolInputGuardrailData, tool
from tests.kit.clients import MakeClient
from tests.kit.events import EVENTS, events_in

APPROVE = {"decision": "approve"}
CALLS: list[Any] = [
    pytest.param(
        {"name": "refund", "args": {"amount": 500}, "id": "call_1", "type": "tool_call"},
        lambda answer: (answer["content"], answer["tool_call_id"]),
        id="langchain",
    ),
    pytest.param(
        {"id": "call_1", "type": "function", "function": {"name": "refund", "arguments": '{"amount": 500}'}},
        lambda answer: (answer["content"], answer["tool_call_id"]),
        id="openai",
    ),
    pytest.param(
        {"type": "function_call", "call_id": "call_1", "name": "refund", "arguments": '{"amount": 500}'},
        lambda answer: (answer["output"], answer["call_id"]),
        id="openai-responses",
    ),
    pytest.param(
        {"type": "tool_use", "id": "call_1", "name": "refund", "input": {"amount": 500}},
        lambda answer: (answer["content"], answer["tool_use_id"]),
        id="anthropic",
    ),
    pytest.param(
        {"functionCall": {"id": "call_1", "name": "refund", "args": {"amount": 500}}},
        lambda answer: (answer["functionResponse"]["response"]["output"], answer["functionResponse"]["id"]),
        id="gemini",
    ),
]
CALL: dict[str, Any] = CALLS[0].values[0]


class Till:
    """Pay money back, and count how often."""

    def __init__(self, **options: Any) -> None:
        self.paid: list[float] = []
        self.release = asyncio.Event()
        self.release.set()
        self.started = asyncio.Event()
        self.tool: StructuredTool = tool(requires_approval=lambda args: args["amount"] > 100, **options)(self.refund)

    async def refund(self, amount: float) -> str:
        """Pay money back.

        Args:
            amount: How much.
        """
        self.paid.append(amount)
        self.started.set()
        await self.release.wait()
        return f"Refunded {amount:g}, {len(self.paid)} in all."


@pytest.mark.parametrize(("call", "read"), CALLS)
async def test_a_decided_call_that_is_sent_again_is_answered_and_not_run(
    make_client: MakeClient, call: dict[str, Any], read: Any
) -> None:
    """With 200 and in its own dialect, however often it comes, alone and in a batch."""
    till = Till()
    client = await make_client(till.tool)
    waiting = [await client.post("/tool_calls", json=call) for _ in range(2)]
    await client.post(waiting[0].headers["Location"], json=APPROVE)

    again = [await client.post("/tool_calls", json=call) for _ in range(2)]
    batch = await client.post("/tool_calls/batch", json=[call, call])

    assert [response.status_code for response in (*waiting, *again, batch)] == [202, 202, 200, 200, 200]
    assert waiting[0].json() == waiting[1].json()
    answers = [*(response.json() for response in again), *batch.json()]
    assert [read(answer) for answer in answers] == [("Refunded 500, 1 in all.", "call_1")] * 4
    assert till.paid == [500]
    assert len((await client.get("/approvals")).json()) == 1


async def test_a_call_may_be_sent_again_in_another_dialect(make_client: MakeClient) -> None:
    """It is the same call."""
    till = Till()
    client = await make_client(till.tool)
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]
    await client.post(place, json={"decision": "approve", "args": {"amount": 150}})

    again = await client.post("/tool_calls", json=CALLS[1].values[0])
    events = await client.post("/tool_calls", json=CALL, headers=EVENTS)

    assert again.json() == {"role": "tool", "tool_call_id": "call_1", "content": "Refunded 150, 1 in all."}
    assert [(name, event["content"]) for name, event in events_in(events.text)] == [
        ("message", "Refunded 150, 1 in all.")
    ]


async def test_a_rejected_call_that_is_sent_again_is_rejected_again(make_client: MakeClient) -> None:
    """In the words of the person; in a stream and in a batch too."""
    till = Till()
    client = await make_client(till.tool)
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]
    rejected = (await client.post(place, json={"decision": "reject", "reason": "Not today."})).json()

    again = await client.post("/tool_calls", json=CALL)
    batch = await client.post("/tool_calls/batch", json=[CALL])
    stream = await client.post("/tool_calls/batch", json=[CALL], headers=EVENTS)

    assert (again.status_code, again.json()["content"]) == (200, "Not today.")
    assert [again.json(), batch.json()[0], events_in(stream.text)[0][1]] == [rejected["message"]] * 3
    assert till.paid == []


async def test_a_call_that_still_runs_is_not_run_again(make_client: MakeClient) -> None:
    """It is told so with 202, so that the agent goes on asking."""
    till = Till()
    till.release.clear()
    client = await make_client(till.tool)
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]
    deciding = asyncio.ensure_future(client.post(place, json=APPROVE))
    await till.started.wait()

    again = await client.post("/tool_calls", json=CALL)
    batch = await client.post("/tool_calls/batch", json=[CALL])
    till.release.set()
    await deciding

    assert (again.status_code, again.headers["Location"]) == (202, place)
    assert (again.json()["status"], again.json()["message"]) == ("approved", None)
    assert batch.json()[0]["response_metadata"]["error"]["kind"] == "approval_required"
    assert batch.json()[0]["content"] == f"refund was approved and still runs ({again.json()['id']})."
    assert (await client.post("/tool_calls", json=CALL)).json()["content"] == "Refunded 500, 1 in all."
    assert till.paid == [500]


OTHERS: list[Any] = [
    pytest.param({"args": {"amount": 501}}, {}, id="other arguments"),
    pytest.param({"id": "call_2"}, {}, id="another id"),
    pytest.param({"id": None}, {}, id="no id"),
    pytest.param({"context": {"user": "bo"}}, {}, id="another context"),
    pytest.param({}, {"X-Caller": "bo"}, id="another caller"),
]


@pytest.mark.parametrize(("other", "headers"), OTHERS)
async def test_another_call_waits_for_a_decision_of_its_own(
    make_client: MakeClient, other: dict[str, Any], headers: dict[str, str]
) -> None:
    """A person decides about what they see, and nobody gets the answer of another."""
    till = Till()
    client = await make_client(till.tool, caller_header="X-Caller")
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]
    await client.post(place, json=APPROVE)

    response = await client.post("/tool_calls", json={**CALL, **other}, headers=headers)

    assert response.status_code == 202
    assert response.headers["Location"] != place
    assert till.paid == [500]


async def test_neither_guardrails_nor_the_policy_are_asked_again(make_client: MakeClient) -> None:
    """What they say may have changed, and the call has been made."""
    asked: list[str] = []

    def judge(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        asked.append("guardrail")
        # An argument of the moment, which is different each time.
        return ToolGuardrailFunctionOutput.replace({"amount": 500 + len(asked)})

    till = Till(tool_input_guardrails=[judge])
    client = await make_client(till.tool)
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]
    await client.post(place, json=APPROVE)
    before = len(asked)

    again = await client.post("/tool_calls", json=CALL)

    assert (again.json()["content"], len(asked) - before) == ("Refunded 502, 1 in all.", 0)


async def test_what_a_call_lacks_the_second_time_does_not_matter(make_client: MakeClient) -> None:
    """The state has moved on while it waited."""
    till = Till()
    client = await make_client(till.tool)
    place = (await client.post("/tool_calls", json={**CALL, "state": {"messages": [1]}})).headers["Location"]
    await client.post(place, json=APPROVE)

    again = await client.post("/tool_calls", json={**CALL, "state": {"messages": [1, 2]}})

    assert again.json()["content"] == "Refunded 500, 1 in all."


async def test_an_expired_approval_is_forgotten_with_its_answer(make_client: MakeClient) -> None:
    """From then on the call is new."""
    till = Till()
    client = await make_client(till.tool, approval_ttl=0.05)
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]
    await asyncio.sleep(0.06)

    again = await client.post("/tool_calls", json=CALL)

    assert (again.status_code, again.headers["Location"] == place) == (202, False)

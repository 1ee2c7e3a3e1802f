"""A call is decided once, and what becomes of it is its answer."""

import asyncio
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from sidecall import StructuredTool, ToolException, ToolGuardrailFunctionOutput, tool
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem

APPROVE = {"decision": "approve"}


def _asking(**options: Any) -> StructuredTool:
    @tool("work", requires_approval=True, **options)
    async def work(order: int = 7) -> str:
        """Work.

        Args:
            order: Its number.
        """
        if order == 0:
            raise ToolException("No such order.")
        if order < 0:
            raise ValueError("canary-4711")
        return f"worked on {order}"

    return work


async def _wait(client: httpx.AsyncClient, **args: Any) -> str:
    response = await client.post("/tool_calls", json={"name": "work", "args": args, "id": "call_1"})
    return response.headers["Location"]


@pytest.mark.parametrize("first", ["approve", "reject"])
@pytest.mark.parametrize("second", ["approve", "reject"])
async def test_a_second_decision_is_a_conflict(make_client: MakeClient, first: str, second: str) -> None:
    """What was decided stands."""
    client = await make_client(_asking())
    place = await _wait(client)
    decided = (await client.post(place, json={"decision": first})).json()

    response = await client.post(place, json={"decision": second})

    assert response.status_code == 409
    assert read_problem(response) == (
        "approval-conflict",
        f"The approval was {decided['status']} already, by anonymous.",
    )
    assert (await client.get(place)).json() == decided


async def test_of_many_decisions_at_once_one_counts(make_client: MakeClient) -> None:
    """The tool runs once."""
    client = await make_client(_asking())
    place = await _wait(client)

    responses = await asyncio.gather(
        client.post(place, json={**APPROVE, "args": {"order": 1}}),
        client.post(place, json={"decision": "reject"}),
        client.post(place, json=APPROVE),
        client.post(place, json={**APPROVE, "args": {"order": 2}}),
    )

    assert sorted(response.status_code for response in responses) == [200, 409, 409, 409]


async def test_a_call_that_runs_cannot_be_decided_again(make_client: MakeClient) -> None:
    """Nor is it sent to wait a second time by the person's impatience; its answer comes with the decision."""
    started, release = asyncio.Event(), asyncio.Event()

    @tool("work", requires_approval=True)
    async def work() -> str:
        """Work until released."""
        started.set()
        await release.wait()
        return "done"

    client = await make_client(work)
    place = await _wait(client)
    deciding = asyncio.ensure_future(client.post(place, json=APPROVE))
    await started.wait()
    running = (await client.get(place)).json()
    refused = await client.post(place, json=APPROVE)
    release.set()

    assert (running["status"], running["message"], refused.status_code) == ("approved", None, 409)
    assert (await deciding).json()["message"]["content"] == "done"


@pytest.mark.parametrize("id", ["nope", "01956a3e-7d1c-7f2a-9a51-6f4d3c2b1a01", "%00", "..%2Ftools"])
async def test_an_approval_that_never_was_is_not_found(make_client: MakeClient, id: str) -> None:
    """Neither to be read nor to be decided."""
    client = await make_client(_asking())

    read = await client.get(f"/approvals/{id}")
    decided = await client.post(f"/approvals/{id}", json=APPROVE)

    assert (read.status_code, decided.status_code) == (404, 404)


@pytest.mark.parametrize("store", ["memory", "file"])
async def test_an_approval_that_has_expired_says_so(make_client: MakeClient, tmp_path: Path, store: str) -> None:
    """The call does not run any more, and who decides learns why."""
    kept = {} if store == "memory" else {"store": f"sqlite:///{tmp_path / 'kept.db'}"}
    client = await make_client(_asking(), approval_ttl=1e-9, **kept)
    place = await _wait(client)

    read, decided = await client.get(place), await client.post(place, json=APPROVE)
    lists = [(await client.get(f"/approvals{query}")).json() for query in ("", "?status=expired", "?status=pending")]

    assert (read.status_code, read.json()["status"], read.json()["message"]) == (200, "expired", None)
    assert decided.status_code == 409
    assert decided.json()["detail"] == "The approval has expired: nobody decided about the call in time."
    assert [[(it["id"], it["status"]) for it in listed] for listed in lists] == [
        [(place.rpartition("/")[2], "expired")],
        [(place.rpartition("/")[2], "expired")],
        [],
    ]


FAILURES: list[Any] = [
    pytest.param({}, {"order": 0}, "tool_error", "No such order.", id="error of the tool"),
    pytest.param({"handle_tool_error": None}, {"order": 0}, "tool_error", "No such order.", id="let through"),
    pytest.param(
        {},
        {"order": -1},
        "execution_error",
        "Error: work failed unexpectedly (call call_1). The details are in the server's log.",
        id="crash",
    ),
    pytest.param(
        {"tool_output_guardrails": [lambda _: ToolGuardrailFunctionOutput.raise_exception()]},
        {"order": 1},
        "denied",
        "The guardrail <lambda> refuses this call of work.",
        id="guardrail",
    ),
]


@pytest.mark.parametrize(("options", "args", "kind", "content"), FAILURES)
async def test_an_approved_call_that_fails_is_decided_all_the_same(
    make_client: MakeClient, options: Any, args: Any, kind: str, content: str
) -> None:
    """The person did nothing wrong; the failure is in the message."""
    client = await make_client(_asking(**options))

    response = await client.post(await _wait(client, **args), json=APPROVE)
    message = response.json()["message"]

    assert (response.status_code, response.json()["status"]) == (200, "approved")
    assert (message["status"], message["content"]) == ("error", content)
    assert message["response_metadata"]["error"]["kind"] == kind


async def test_in_a_batch_calls_that_wait_hold_nobody_up(make_client: MakeClient) -> None:
    """Each is an answer with the approval's id, under which it can be decided."""

    @tool
    async def ping() -> str:
        """Answer."""
        return "pong"

    client = await make_client(_asking(), ping)
    calls = [{"name": "work", "args": {}, "id": "1"}, {"name": "ping", "args": {}, "id": "2"}]

    response = await client.post("/tool_calls/batch", json=calls)
    waiting, answered = response.json()
    approval_id = waiting["response_metadata"]["approval_id"]
    decided = (await client.post(f"/approvals/{approval_id}", json=APPROVE)).json()

    assert (response.status_code, answered["content"]) == (200, "pong")
    assert (waiting["tool_call_id"], waiting["status"]) == ("1", "error")
    assert waiting["response_metadata"]["error"]["kind"] == "approval_required"
    assert waiting["content"] == f"work waits for a person's approval ({approval_id})."
    assert (decided["message"]["content"], decided["message"]["tool_call_id"]) == ("worked on 7", "1")


async def test_arguments_that_json_cannot_say_do_not_spoil_the_list(make_client: MakeClient) -> None:
    """A guardrail may have put objects of Python's in place of the model's texts."""

    @tool(
        "work",
        requires_approval=True,
        tool_input_guardrails=[lambda data: ToolGuardrailFunctionOutput.replace({**data.args})],
    )
    async def work(zone: ZoneInfo) -> str:
        """Work."""
        return str(zone)

    client = await make_client(work)

    waiting = await client.post("/tool_calls", json={"name": "work", "args": {"zone": "Asia/Tokyo"}})
    listing = await client.get("/approvals")

    assert (waiting.status_code, listing.status_code) == (202, 200)
    assert listing.json()[0]["tool_call"]["args"] == {"zone": "Asia/Tokyo"}


BODIES: list[Any] = [
    pytest.param(b"{", "application/json", 400, id="no JSON"),
    pytest.param(b'{"decision": "approve"}', "text/plain", 415, id="not declared"),
    pytest.param(b" " * 2000, "application/json", 413, id="too large"),
    pytest.param(b'{"decision": "approve", "reason": NaN}', "application/json", 400, id="NaN"),
    pytest.param(b'{"decision": "approve", "always": "yes"}', "application/json", 422, id="no boolean"),
    pytest.param(b'{"decision": "reject", "reason": "\\u0000"}', "application/json", 422, id="NUL"),
]


@pytest.mark.parametrize(("content", "media_type", "status"), BODIES)
async def test_a_body_that_cannot_be_read_decides_nothing(
    make_client: MakeClient, content: bytes, media_type: str, status: int
) -> None:
    """The same limits hold as for calls."""
    client = await make_client(_asking(), max_body_bytes=1024)
    place = await _wait(client)

    response = await client.post(place, content=content, headers={"Content-Type": media_type})

    assert response.status_code == status
    assert (await client.get(place)).json()["status"] == "pending"


async def test_a_call_that_finds_no_room_can_be_approved_again(make_client: MakeClient) -> None:
    """A busy moment must not cost the person's word."""
    started, release = asyncio.Event(), asyncio.Event()

    @tool
    async def hold() -> str:
        """Take the only place."""
        started.set()
        await release.wait()
        return "held"

    client = await make_client(_asking(), hold, max_concurrency=1, max_queue=0)
    place = await _wait(client)
    holding = asyncio.ensure_future(client.post("/tool_calls", json={"name": "hold", "args": {}}))
    await started.wait()
    refused = await client.post(place, json=APPROVE)
    release.set()
    await holding
    decided = await client.post(place, json=APPROVE)

    assert refused.status_code == 503
    assert decided.json()["message"]["content"] == "worked on 7"

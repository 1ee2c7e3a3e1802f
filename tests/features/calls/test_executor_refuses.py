"""An executor that does not begin a call refuses it: the client comes again, and no call has failed."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

import httpx
import pytest

from sidecall import Retry, ToolAnnotations, tool
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.overload import CallRefused, Overloaded, PartUnavailable, TooManyApprovals
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.table import EXECUTORS
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.kit.events import EVENTS, events_in

ran: list[str] = []
AGAIN = ToolAnnotations(idempotent=True)


class Choosy:
    """Runs calls, but for the first few."""

    occupancy = Occupancy()

    def __init__(self, refusals: int, refuse: Callable[[], Exception]) -> None:
        self.left = refusals
        self._refuse = refuse
        self.asked = 0

    async def start(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing."""

    def follow(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing."""

    async def run(self, invocation: Invocation) -> Any:
        """Refuse, or run it."""
        self.asked += 1
        if self.left:
            self.left -= 1
            raise self._refuse()
        return invocation.tool.function(**invocation.values)

    async def close(self) -> None:
        """Do nothing."""


@tool(executor="thread")
def work(text: str = "") -> str:
    """Work.

    Args:
        text: What is said back.
    """
    ran.append(text)
    return text


@tool(executor="thread", retry=Retry(attempts=3, wait=0, max_wait=0), annotations=AGAIN)
def work_again(text: str = "") -> str:
    """Work, and again where it fails.

    Args:
        text: What is said back.
    """
    ran.append(text)
    return text


@tool(executor="thread", requires_approval=True)
def work_approved(text: str = "") -> str:
    """Work, where a person lets it.

    Args:
        text: What is said back.
    """
    ran.append(text)
    return text


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    """Begin anew."""
    ran.clear()


Serve = Callable[..., Any]


@pytest.fixture
def serve(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Make a client of a server whose executor of threads refuses so many calls first."""

    async def make(refusals: int, error: Exception | None = None) -> tuple[httpx.AsyncClient, Choosy]:
        executor = Choosy(refusals, lambda: error or CallRefused("No room there.", retry_after=7))
        monkeypatch.setitem(EXECUTORS, "thread", lambda _: executor)  # type: ignore[misc]
        client = await make_client(work, work_again, work_approved, store="memory://")
        return client, executor

    return make


@pytest.mark.parametrize(
    "error",
    [CallRefused("No room there.", retry_after=7), Overloaded("No room there.", retry_after=7)],
    ids=["typed", "of a kind"],
)
@pytest.mark.parametrize("path", ["/tool_calls", "/tools/work/call", "/tool_calls?timeout=5"])
async def test_a_single_call_is_told_to_come_again(serve: Serve, path: str, error: Exception) -> None:
    """With 503, at once; and the next one runs."""
    client, _ = await serve(1, error)
    body = {"text": "a"} if path.startswith("/tools/") else write_call("work", text="a")

    refused = await client.post(path, json=body)
    if refused.status_code == 404:
        pytest.skip("no such door here")
    answered = await client.post(path, json=body)

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "7")
    assert (refused.json()["type"], refused.json()["detail"]) == ("urn:sidecall:problem:overloaded", "No room there.")
    assert answered.status_code == 200
    assert ran == ["a"]


async def test_it_is_not_a_failed_call(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """It counts as one that was not let in; no traceback is logged, and the history does not have it."""
    caplog.set_level(logging.INFO, "sidecall")
    client, _ = await serve(1)

    await client.post("/tool_calls", json=write_call("work"))
    metrics = (await client.get("/metrics")).text
    history = (await client.get("/tool_calls")).json()

    assert 'sidecall_calls_total{outcome="overloaded",tool="work"} 1.0' in metrics
    assert "execution_error" not in metrics
    assert history == []
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_in_a_batch_it_is_answered_in_its_place(serve: Serve) -> None:
    """The others run."""
    client, _ = await serve(1)
    calls = [write_call("work", id=name, text=name) for name in "abc"]

    answers = (await client.post("/tool_calls/batch", json=calls)).json()

    kinds = [answer["response_metadata"].get("error", {}).get("kind") for answer in answers]
    assert sorted(kinds, key=str) == [None, None, "overloaded"]
    assert len(ran) == 2
    error = answers[kinds.index("overloaded")]["response_metadata"]["error"]
    assert (error["retryable"], error["retry_after_ms"]) == (True, 7000)


async def test_in_a_stream_it_is_a_problem(serve: Serve) -> None:
    """Since its status was sent before."""
    client, _ = await serve(1)

    answer = await client.post("/tool_calls", json=write_call("work"), headers=EVENTS)

    [(name, problem)] = events_in(answer.text)
    assert (name, problem["type"], problem["status"]) == ("problem", "urn:sidecall:problem:overloaded", 503)


async def test_over_mcp_it_is_an_error_of_the_request(serve: Serve) -> None:
    """And none of the tool."""
    client, _ = await serve(1)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "work", "arguments": {}}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}

    answer = (await client.post("/mcp", json=call, headers=headers)).json()

    assert "result" not in answer
    assert answer["error"]["message"] == "No room there."


async def test_a_job_comes_again_by_itself(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tool has not begun, so it may, though it must not run twice."""
    client, executor = await serve(1, CallRefused("No room there.", retry_after=0))

    sent = await client.post("/tool_calls", json=write_call("work", text="a"), headers={"Prefer": "respond-async"})
    ended = (await client.get(sent.headers["Location"], headers={"Prefer": "wait=20"})).json()

    assert (ended["status"], executor.asked, ran) == ("succeeded", 2, ["a"])


async def test_a_key_is_free_again(serve: Serve) -> None:
    """The same request runs when it comes again."""
    client, _ = await serve(1)
    key = {"Idempotency-Key": "1"}

    first = await client.post("/tool_calls", json=write_call("work", text="a"), headers=key)
    second = await client.post("/tool_calls", json=write_call("work", text="a"), headers=key)

    assert (first.status_code, second.status_code, ran) == (503, 200, ["a"])


async def test_a_tool_that_may_be_tried_again_is_not(serve: Serve) -> None:
    """Attempts are for what has begun."""
    client, executor = await serve(1)

    refused = await client.post("/tool_calls", json=write_call("work_again"))

    assert (refused.status_code, executor.asked, ran) == (503, 1, [])


async def test_an_approved_call_waits_on(serve: Serve) -> None:
    """Its decision is taken back, and can be made again."""
    client, _ = await serve(1)
    place = (await client.post("/tool_calls", json=write_call("work_approved", text="a"))).headers["Location"]

    refused = await client.post(place, json={"decision": "approve"})
    waiting = (await client.get(place)).json()["status"]
    decided = await client.post(place, json={"decision": "approve"})

    assert (refused.status_code, waiting, decided.status_code) == (503, "pending", 200)
    assert ran == ["a"]


@pytest.mark.parametrize("error", [PartUnavailable("Busy."), TooManyApprovals(), ValueError("No room.")], ids=repr)
async def test_what_a_tool_is_refused_in_its_work_is_a_failed_call(serve: Serve, error: Exception) -> None:
    """It may have had effects, so it does not come again by itself."""
    client, executor = await serve(1, error)

    answered = await client.post("/tool_calls", json=write_call("work"))
    sent = await client.post("/tool_calls", json=write_call("work", text="a"), headers={"Prefer": "respond-async"})
    await client.get(sent.headers["Location"], headers={"Prefer": "wait=20"})

    assert (answered.status_code, answered.json()["response_metadata"]["error"]["kind"]) == (200, "execution_error")
    assert executor.asked == 2

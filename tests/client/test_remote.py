"""The tools of a server are objects for any framework, which say all that comes of a call."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from sidecall import tool
from sidecall.client import (
    ApprovalNeeded,
    AsyncSidecall,
    NotAuthenticated,
    PartialAnswer,
    Progress,
    RemoteTool,
    RequestUnfit,
    ServerFailed,
    Sidecall,
    ToolAnswer,
    ToolFailed,
    aload_tools,
    load_tools,
)
from tests.client.conftest import OpenTwin
from tests.client.desk import charge, double, find, linger, pay_out, recall, refund, write
from tests.client.twins import Twin
from tests.e2e.clients.wide_tools import draw, order
from tests.e2e.conftest import Serve, start_server

__all__ = ["start_server"]

Call = Callable[..., Any]


class Box(BaseModel):
    """A box."""

    width: int


async def load(twin: Twin, **options: Any) -> dict[str, RemoteTool]:
    """Load the tools of an application, by their names."""
    return {it.name: it for it in await aload_tools(twin.client, **options)}


async def test_a_tool_has_its_name_description_and_schema(open_twin: OpenTwin) -> None:
    """What is injected is no argument, and a reference is in its place unless it leads back to itself."""

    @tool
    async def deliver(box: Box) -> str:
        """Deliver a box."""
        return "delivered"

    twin = await open_twin(find, deliver, order)
    tools = await load(twin)

    assert tools["find"].description == "Find something."
    assert tools["find"].parameters["properties"].keys() == {"query"}
    assert tools["order"].parameters["properties"]["kind"]["enum"] == ["gift", "usual"]
    assert tools["deliver"].parameters["properties"]["box"]["properties"].keys() == {"width"}
    assert ["$defs" in it.parameters for it in tools.values()] == [False, False, True]
    assert [it.asks for it in tools.values()] == [False, False, False]


@pytest.mark.parametrize(
    ("name", "args", "status", "text", "artifact", "kind"),
    [
        ("double", {"number": 4}, "success", "8", None, None),
        ("double", '{"number": 4}', "success", "8", None, None),
        ("double", {"number": "four"}, "error", "number: Input should be an integer", None, "invalid_arguments"),
        ("double", {"number": -1}, "error", "Not below zero.", None, "tool_error"),
        ("find", {"query": "tea"}, "success", "tea for Ada", {"rows": ["tea"]}, None),
        ("recall", {"key": "a"}, "success", "of the state", None, None),
        (
            "draw",
            {},
            "success",
            "Drawn.\n[image: image/png]\n[image: https://x.test/a.png]\n[file: application/pdf]\n"
            "[file: text/plain]\n[file: https://x.test/a.pdf]",
            None,
            None,
        ),
    ],
)
async def test_an_answer_says_what_came_of_a_call(
    open_twin: OpenTwin, name: str, args: Any, status: str, text: str, artifact: Any, kind: str | None
) -> None:
    """Content, artifact, status, and why it failed."""
    twin = await open_twin(double, find, recall, draw)
    tools = await load(twin, state={"a": "of the state"}, context={"user": "Ada"})

    answer = await tools[name].acall(args, id="call_1")

    assert (answer.status, answer.text, answer.artifact) == (status, text, artifact)
    assert answer.error == (text if status == "error" else None)
    assert (answer.failure and answer.failure.kind) == kind
    assert (answer.tool_call_id, answer.approval) == ("call_1", None)


async def test_options_of_a_call_come_before_those_of_all(open_twin: OpenTwin) -> None:
    """Each call may belong to another user."""
    tools = await load(await open_twin(find), context={"user": "Ada"})

    answers = [await tools["find"].acall({"query": "tea"}, **it) for it in ({}, {"context": {"user": "Bo"}})]

    assert [it.text for it in answers] == ["tea for Ada", "tea for Bo"]


async def test_a_tool_that_is_gone_is_a_failure(open_twin: OpenTwin) -> None:
    """The model reads what there is in its place."""
    (remote,) = (await load(await open_twin(double))).values()
    gone = RemoteTool("doubel", "", {}, {}, remote.clients)

    answer = await gone.acall({"number": 4})

    assert (answer.status, answer.failure and answer.failure.kind) == ("error", "unknown_tool")
    with pytest.raises(ToolFailed, match="double") as failed:
        answer.raise_for_status()
    assert failed.value.answer is answer


async def test_an_approval_is_an_answer_and_the_same_call_later_has_its_end(open_twin: OpenTwin) -> None:
    """The model reads that the call waits, and the program has the approval."""
    twin = await open_twin(refund)
    remote = (await load(twin))["refund"]

    waiting = await remote.acall({"order": 7}, id="call_1")
    again = await remote.acall({"order": 7}, id="call_1")
    assert waiting.approval is not None
    await twin.ask("approvals.approve", waiting.approval.id)
    ended = await remote.acall({"order": 7}, id="call_1")

    assert (remote.asks, waiting.status) == (True, "error")
    assert waiting.error == "refund waits until a person has decided about it. It has not run."
    assert waiting.response_metadata["approval_id"] == waiting.approval.id
    assert again.approval == waiting.approval
    assert (ended.text, ended.status, ended.approval) == ("Refunded 100 for order 7.", "success", None)


@pytest.mark.parametrize(
    ("decision", "text", "status"),
    [(True, "Paid 5.", "success"), (False, "Tool execution was not approved.", "error")],
)
async def test_a_person_may_be_asked_at_once(open_twin: OpenTwin, decision: bool, text: str, status: str) -> None:
    """By a function, which is called where the program runs."""
    threads: list[Any] = []
    remote = (await load(await open_twin(pay_out)))["pay_out"]

    async def ask(approval: Any) -> bool:
        threads.append(threading.current_thread())
        return decision

    answer = await remote.acall({"amount": 5}, ask=ask)

    assert (answer.text, answer.status) == (text, status)
    assert threads == [threading.current_thread()]


async def test_a_call_may_wait_for_its_decision(open_twin: OpenTwin) -> None:
    """Until another person has made it, or for a while."""
    twin = await open_twin(refund)
    remote = (await load(twin, approvals="wait"))["refund"]

    short = await remote.acall({"order": 6}, approval_wait=0.01)
    assert short.approval is not None
    waiting = asyncio.ensure_future(remote.acall({"order": 7}, id="call_7"))
    pending = await _find_pending(twin, "call_7")
    await twin.ask("approvals.reject", pending.id, "Ask for a receipt first.")

    assert (await waiting).error == "Ask for a receipt first."


async def _find_pending(twin: Twin, call_id: str) -> Any:
    async with asyncio.timeout(30):
        while True:
            for approval in await twin.ask("approvals.list"):
                if approval.tool_call["id"] == call_id:
                    return approval
            await asyncio.sleep(0.01)


async def test_an_approval_may_be_an_exception(open_twin: OpenTwin) -> None:
    """For frameworks that interrupt a run."""
    remote = (await load(await open_twin(refund), approvals="raise"))["refund"]

    with pytest.raises(ApprovalNeeded) as needed:
        await remote.acall({"order": 7}, id="call_1")

    assert needed.value.approvals[0].tool_call["id"] == "call_1"


async def test_progress_is_passed_on(open_twin: OpenTwin) -> None:
    """To a function that may be async, where the program runs, also before an approval."""
    tools = await load(await open_twin(write, refund))
    events: list[Any] = []

    async def hear(event: Any) -> None:
        events.append((threading.current_thread(), event))

    answer = await tools["write"].acall({"text": "a b"}, id="call_1", on_progress=hear)
    waiting = await tools["refund"].acall({"order": 7}, on_progress=hear)

    assert answer.content == "ab"
    parts = [PartialAnswer("call_1", "a"), PartialAnswer("call_1", "b")]
    assert [it for _, it in events] == [Progress("call_1", 1, 2, "begun"), *parts]
    assert {it for it, _ in events} == {threading.current_thread()}
    assert waiting.approval is not None


async def test_progress_belongs_to_the_conversation_of_its_call(open_twin: OpenTwin) -> None:
    """So its id may come again in another one."""
    tools = await load(await open_twin(refund, write))
    told = [
        await tools["refund"].acall({"order": 7}, id="call_1", conversation=name, on_progress=lambda _: None)
        for name in ("a", "b", "a")
    ]

    first, other, again = (it.approval.id if it.approval else None for it in told)

    assert first == again != other


async def test_an_id_that_another_call_has_is_a_failure(open_twin: OpenTwin) -> None:
    """Models that count their calls start over."""
    remote = (await load(await open_twin(charge)))["charge"]

    answers = [await remote.acall({"amount": amount}, id="call_1") for amount in (5, 5, 6)]

    assert [it.status for it in answers] == ["success", "success", "error"]
    assert answers[2].failure is not None
    assert answers[2].failure.kind == "key_reused"


@pytest.mark.parametrize(
    ("name", "args", "error"),
    [("linger", {}, ServerFailed), ("recall", {"key": "a"}, RequestUnfit)],
)
async def test_what_the_program_has_to_mend_is_raised(
    open_twin: OpenTwin, name: str, args: Any, error: type[Exception]
) -> None:
    """A failure that its author lets through, and what the program has not sent."""
    tools = await load(await open_twin(linger, recall))

    with pytest.raises(error):
        await tools[name].acall(args)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: httpx.ConnectError("refused at http://10.0.0.1"),
            "server_unreachable",
            "double has no answer. The server of its tools could not be reached. It has not run; try again later.",
        ),
        (
            lambda: httpx.ReadError("lost http://10.0.0.1"),
            "server_unreachable",
            "double has no answer. The server of its tools could not be reached. It is not known whether it has run.",
        ),
        (
            lambda: httpx.Response(503, json={"type": "urn:sidecall:problem:overloaded", "detail": "full"}),
            "server_busy",
            "double has no answer. The server of its tools had no room. It has not run; try again later.",
        ),
        (
            lambda: httpx.Response(503, json={"type": "urn:sidecall:problem:shutting-down", "detail": "going"}),
            "server_busy",
            "double has no answer. The server of its tools had no room. It is not known whether it has run.",
        ),
    ],
)
def test_a_server_that_is_down_is_a_failure(make: Call, kind: str, text: str) -> None:
    """The model reads whether its call may have run, and no address."""

    def handle(_: httpx.Request) -> httpx.Response:
        made = make()
        if isinstance(made, Exception):
            raise made
        return made  # type: ignore[no-any-return]

    client = Sidecall("http://sidecall", transport=httpx.MockTransport(handle), retries=0)
    answer = _remote(client, "double").call({"number": 4}, id="call_1")

    assert (answer.error, answer.failure and answer.failure.kind) == (text, kind)


def test_wrong_credentials_are_raised() -> None:
    """No model can mend them."""
    refusal = httpx.Response(401, json={"type": "urn:sidecall:problem:not-authenticated", "detail": "no key"})
    client = Sidecall("http://sidecall", transport=httpx.MockTransport(lambda _: refusal))

    with pytest.raises(NotAuthenticated):
        _remote(client, "double").call({"number": 4})


def _remote(client: Sidecall, name: str) -> RemoteTool:
    listed = {"name": name, "definition": {}, "args_schema": {}, "description": ""}
    said = iter([httpx.Response(200, json=[{"name": name}], headers={"ETag": '"1"'}), httpx.Response(200, json=listed)])
    lister = Sidecall("http://sidecall", transport=httpx.MockTransport(lambda _: next(said)))
    (remote,) = load_tools(lister)
    (other,) = [RemoteTool(remote.name, "", {}, {}, type(remote.clients).of(client))]
    return other


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"approvals": "never"}, ValueError, "approvals is one of text, wait, raise, not 'never'"),
        ({"aprovals": "wait"}, TypeError, "a tool does not take aprovals"),
    ],
)
def test_options_without_an_effect_are_refused(options: Any, error: type[Exception], words: str) -> None:
    """When the tools are loaded."""
    with pytest.raises(error, match=words):
        load_tools("http://127.0.0.1:9", **options)


def test_tools_come_from_an_address_or_a_client() -> None:
    """And from nothing else."""
    with pytest.raises(TypeError, match="an address, a Sidecall or an AsyncSidecall, not from 7"):
        load_tools(7)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def address(start_server: Serve) -> str:
    """The address of a real server."""
    return start_server("--tools", "tests/client/desk.py").url


@pytest.mark.parametrize("make", [str, Sidecall, AsyncSidecall])
def test_each_tool_runs_with_an_event_loop_and_without(address: str, make: Call) -> None:
    """From an address and from either client, and on a running event loop too."""
    server = make(address)
    (remote,) = load_tools(server, filters={"names": ["double"]})

    async def run() -> list[ToolAnswer]:
        (loaded,) = load_tools(server, filters={"names": ["double"]})
        tools = (remote, loaded)
        answers = [await remote.acall({"number": 1}), loaded.call({"number": 2}), await loaded.acall({"number": 3})]
        for client in [it.clients.awaited for it in tools if it.clients.awaited is not None]:
            await client.close()
        for used in [it.clients.blocking for it in tools if it.clients.blocking not in (None, remote.clients.blocking)]:
            used.close()
        return answers

    assert [it.content for it in (remote.call({"number": 4}), *asyncio.run(run()))] == ["8", "2", "4", "6"]
    assert remote.preview({"number": 4})["would_run"] is True
    if remote.clients.blocking is not None:
        remote.clients.blocking.close()

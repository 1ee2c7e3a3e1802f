"""The tools of a server as objects: one that runs in the background has an answer as any other."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sidecall.client import Progress, RemoteTool, Sidecall, ToolAnswer, load_tools
from tests.e2e.conftest import Serve, start_server
from tests.kit.calls import write_call

__all__ = ["start_server"]


@pytest.fixture(scope="module")
def address(start_server: Serve) -> str:
    """The address of a real server."""
    return start_server("--tools", "tests/client/long_work.py").url


@pytest.fixture(scope="module")
def tools(address: str) -> Iterator[dict[str, RemoteTool]]:
    """Its tools, by their names."""
    loaded = {it.name: it for it in load_tools(address)}
    yield loaded
    for tool in loaded.values():
        assert tool.clients.blocking is not None
        tool.clients.blocking.close()


def call(tool: RemoteTool, args: Any, awaited: bool, **options: Any) -> ToolAnswer:
    """Run a tool without an event loop, or on one."""
    return asyncio.run(acall(tool, args, **options)) if awaited else tool.call(args, **options)


async def acall(tool: RemoteTool, args: Any, **options: Any) -> ToolAnswer:
    """Run a tool, and close the connections of this event loop."""
    try:
        return await tool.acall(args, **options)
    finally:
        if tool.clients.awaited is not None:
            await tool.clients.awaited.close()


AWAITED = pytest.mark.parametrize("awaited", [False, True], ids=["call", "acall"])


def test_the_server_answers_such_a_call_with_a_place(address: str) -> None:
    """So what comes back by `call` has been waited for."""
    response = httpx.post(f"{address}/tool_calls", json=write_call("export", rows=1))

    assert (response.status_code, response.headers["Location"].rpartition("/")[0]) == (202, "/tool_calls")


@AWAITED
@pytest.mark.parametrize(
    ("name", "args", "text", "artifact", "kind"),
    [
        ("export", {"rows": 3}, "3 rows", {"rows": 3}, None),
        ("export", '{"rows": 3}', "3 rows", {"rows": 3}, None),
        ("export", {"rows": "three"}, "rows: Input should be an integer", None, "invalid_arguments"),
        ("spoil", {"why": "The disk is full."}, "The disk is full.", None, "tool_error"),
        ("shout", {"text": "tea"}, "TEA", None, None),
    ],
)
def test_a_job_is_waited_for(
    tools: dict[str, RemoteTool], awaited: bool, name: str, args: Any, text: str, artifact: Any, kind: str | None
) -> None:
    """Its content, artifact, status and failure are those of an ordinary call."""
    answer = call(tools[name], args, awaited, id="call_1")

    assert (answer.text, answer.artifact, answer.status) == (text, artifact, "error" if kind else "success")
    assert (answer.failure and answer.failure.kind) == kind
    assert (answer.tool_call_id, answer.name) == ("call_1", name)


@AWAITED
def test_its_progress_is_passed_on(tools: dict[str, RemoteTool], awaited: bool) -> None:
    """Its request is answered as events, and it ends with them."""
    heard: list[Any] = []

    answer = call(tools["export"], {"rows": 2}, awaited, id="call_1", on_progress=heard.append)

    assert (answer.text, heard) == ("2 rows", [Progress("call_1", 1, 1, "exporting")])


@AWAITED
@pytest.mark.parametrize(("decision", "text"), [("approve", "A is empty."), ("reject", "Not now.")])
def test_one_that_needs_approval_says_so_and_ends_later(
    address: str, tools: dict[str, RemoteTool], awaited: bool, decision: str, text: str
) -> None:
    """The same call again has the answer that came meanwhile."""
    call_id = f"{decision}_{awaited}"

    waiting = call(tools["purge"], {"disk": "A"}, awaited, id=call_id)
    assert waiting.approval is not None
    with Sidecall(address) as person:
        reason = {"reason": "Not now."} if decision == "reject" else {}
        getattr(person.approvals, decision)(waiting.approval.id, **reason)
    ended = call(tools["purge"], {"disk": "A"}, awaited, id=call_id)

    assert (waiting.status, waiting.failure and waiting.failure.kind) == ("error", "approval_required")
    assert (ended.text, ended.approval) == (text, None)


@pytest.mark.parametrize("prefer", ["respond-async", "respond-async, wait=1"])
def test_a_program_may_make_jobs_of_all_its_calls(address: str, prefer: str) -> None:
    """By a header of its client."""
    with Sidecall(address, headers={"Prefer": prefer}) as server:
        shout = next(it for it in load_tools(server) if it.name == "shout")
        answers = [call(shout, {"text": "tea"}, awaited).text for awaited in (False, True)]

    assert answers == ["TEA", "TEA"]

"""Of a call that has been answered nothing is left for Python's collector of cycles."""

import asyncio
import gc
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from sidecall import Registry, ToolException, tool
from sidecall.http.context import RequestContext
from sidecall.http.disconnect import DisconnectListener
from sidecall.http.preferences import PLAIN, Preferences
from sidecall.kernel.core.errors import ToolCallFailed
from sidecall.kernel.core.invocation import Invocation
from sidecall.main import create_app
from sidecall.rest.answers import answer_call
from sidecall.settings import Settings


@tool
async def refuse() -> None:
    """Refuse."""
    raise ToolException("no")


@tool
def refuse_in_a_thread() -> None:
    """Refuse."""
    raise ToolException("no")


@tool
async def crash() -> None:
    """Crash."""
    raise ValueError("lost connection")


@tool
def crash_in_a_thread() -> None:
    """Crash."""
    raise ValueError("lost connection")


@tool(handle_tool_error=None)
async def insist() -> None:
    """Crash, and let everybody know."""
    raise ValueError("lost connection")


@tool(timeout=0.01)
async def oversleep() -> None:
    """Wait for too long."""
    await asyncio.sleep(10)


# Set when the tool below waits.
WAITING = [asyncio.Event()]


@tool
async def wait() -> None:
    """Wait."""
    WAITING[0].set()
    await asyncio.sleep(10)


@tool
async def double(number: int) -> int:
    """Double a number."""
    return number * 2


@tool
async def pass_on(number: int) -> int:
    """Let others have their turn, and return the number."""
    await asyncio.sleep(0)
    return number


TOOLS = (refuse, refuse_in_a_thread, crash, crash_in_a_thread, insist, oversleep, wait, double, pass_on)


@pytest.fixture
def uncollected(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave cycles to themselves, and write no log, whose lines pytest keeps with their tracebacks."""
    monkeypatch.setattr(logging.getLogger("sidecall"), "disabled", True)
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def left_over() -> list[Invocation]:
    """Find the calls of this module, among those that other tests keep."""
    calls = [it for it in gc.get_objects() if isinstance(it, Invocation)]
    return [it for it in calls if it.call.id == "call_left_over"]


async def serve(name: str, args: dict[str, Any], preferences: Preferences = PLAIN) -> bytes:
    """Answer a call as the server does, to a client that leaves once a tool waits."""
    app = create_app(Settings(threads=1), Registry(TOOLS))

    begun = WAITING[0] = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await begun.wait()
        return {"type": "http.disconnect"}

    async def answer(name: str, args: dict[str, Any], call_id: str, preferences: Preferences = PLAIN) -> bytes:
        body = json.dumps({"name": name, "args": args, "id": call_id, "type": "tool_call"}).encode()
        answering = answer_call(app.state.parts, body, RequestContext(), preferences=preferences)
        return (await DisconnectListener(receive).over(answering)).body

    async with app.router.lifespan_context(app):
        answered = await answer(name, args, "call_left_over", preferences)
        # A thread holds its last call until it has the next one.
        await answer("refuse_in_a_thread", {}, "call_next")
        return answered


async def serve_one_who_leaves() -> str:
    """Do as the server does when it finds that nobody is there."""
    try:
        await serve("wait", {})
    except ClientDisconnect:
        return "gone"
    return "answered"


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    ("name", "args", "kind"),
    [
        ("double", {"number": "two"}, "invalid_arguments"),
        ("refuse", {}, "tool_error"),
        ("refuse_in_a_thread", {}, "tool_error"),
        ("crash", {}, "execution_error"),
        ("crash_in_a_thread", {}, "execution_error"),
        ("oversleep", {}, "timeout"),
    ],
)
async def test_a_failure_goes_with_its_call(name: str, args: dict[str, Any], kind: str) -> None:
    """Though it has a traceback, whose frames know the call."""
    answer = json.loads(await asyncio.create_task(serve(name, args)))

    assert answer["response_metadata"]["error"]["kind"] == kind
    assert left_over() == []


@pytest.mark.usefixtures("uncollected")
async def test_a_call_goes_with_its_client() -> None:
    """Whose leaving is an error, too."""
    assert await asyncio.create_task(serve_one_who_leaves()) == "gone"
    assert left_over() == []


async def serve_a_problem() -> str:
    """Do as the server does with what its calling program has to know."""
    try:
        await serve("insist", {})
    except ToolCallFailed as failed:
        return failed.message
    return "answered"


@pytest.mark.usefixtures("uncollected")
async def test_a_problem_goes_with_its_call() -> None:
    """Though its cause has a traceback, too."""
    text = "Error: insist failed unexpectedly (call call_left_over). The details are in the server's log."

    assert await asyncio.create_task(serve_a_problem()) == text
    assert left_over() == []


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    ("name", "args", "status"),
    [("double", {"number": 2}, "success"), ("pass_on", {"number": 2}, "success"), ("refuse", {}, "error")],
)
@pytest.mark.parametrize("preferences", [Preferences(wait=10.0), Preferences(wait=10.0, key="k")])
async def test_a_remembered_call_goes_with_its_end(
    name: str, args: dict[str, Any], status: str, preferences: Preferences
) -> None:
    """Whether it is written before it runs or with its end."""
    answer = json.loads(await asyncio.create_task(serve(name, args, preferences)))

    assert answer["status"] == status
    assert left_over() == []

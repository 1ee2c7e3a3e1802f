"""A tool whose own tasks and timers cancel its call has failed; nobody has hung up, and nobody else is cancelled."""

import asyncio
from typing import Any

import httpx
import pytest

from sidecall import BaseTool, tool
from tests.kit.calls import kind_of, write_call
from tests.kit.clients import MakeClient
from tests.kit.events import EVENTS, events_in


def _present() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()


async def _have_cancelled(task: asyncio.Task[Any]) -> None:
    await asyncio.create_task(_cancel(task))


@tool
async def by_child() -> str:
    """Be cancelled by a task."""
    child = asyncio.create_task(_cancel(_present()))
    await asyncio.Event().wait()
    return str(child)


@tool
async def by_late_child() -> str:
    """Be cancelled by a task that was made after a wait."""
    await asyncio.sleep(0.001)
    child = asyncio.create_task(_cancel(_present()))
    await asyncio.Event().wait()
    return str(child)


@tool
async def by_grandchild() -> str:
    """Be cancelled by a task of a task."""
    child = asyncio.create_task(_have_cancelled(_present()))
    await asyncio.Event().wait()
    return str(child)


@tool
async def by_timer() -> None:
    """Be cancelled by a timer."""
    asyncio.get_running_loop().call_later(0.001, _present().cancel)
    await asyncio.Event().wait()


@tool
async def twice() -> str:
    """Be cancelled again during the clean-up."""
    children = [asyncio.create_task(_cancel(_present()))]
    try:
        await asyncio.Event().wait()
    finally:
        children.append(asyncio.create_task(_cancel(_present())))
        await asyncio.Event().wait()
    return str(children)


@tool
async def goes_on() -> str:
    """Be cancelled, and not mind."""
    child = asyncio.create_task(_cancel(_present()))
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await asyncio.sleep(0.001)
    return f"done: {child.done()}"


@tool
async def in_time() -> str:
    """Keep a time of its own."""
    try:
        async with asyncio.timeout(0.001):
            await asyncio.Event().wait()
    except TimeoutError:
        return "late"
    return "never"


FAILING: list[BaseTool] = [by_child, by_late_child, by_grandchild, by_timer, twice]
ENDING: list[tuple[BaseTool, str]] = [(goes_on, "done: True"), (in_time, "late")]


# A call alone in a batch runs in the task of its request, others in one each.
BATCHES = {"a batch of one": 1, "a batch of two": 2}


async def _ask(client: httpx.AsyncClient, name: str, way: str) -> Any:
    async with asyncio.timeout(30):
        if way in BATCHES:
            return (await client.post("/tool_calls/batch", json=[write_call(name)] * BATCHES[way])).json()[-1]
        if way == "stream":
            [(kind, message)] = events_in(
                (await client.post("/tool_calls", json=write_call(name), headers=EVENTS)).text
            )
            assert kind == "message"
            return message
        return (await client.post("/tool_calls", json=write_call(name))).json()


@pytest.mark.parametrize("way", ["single", "stream", *BATCHES])
@pytest.mark.parametrize("offered", FAILING, ids=lambda offered: offered.name)
async def test_a_call_that_its_own_tool_cancels_has_failed(
    make_client: MakeClient, offered: BaseTool, way: str
) -> None:
    """Its answer is a message, and the caller goes on."""
    client = await make_client(offered)

    message = await _ask(client, offered.name, way)

    assert (message["status"], kind_of(message)) == ("error", "execution_error")
    assert _present().cancelling() == 0


@pytest.mark.parametrize("way", ["single", "stream", *BATCHES])
@pytest.mark.parametrize(("offered", "content"), ENDING, ids=["goes on", "in time"])
async def test_a_tool_that_copes_with_it_has_not(
    make_client: MakeClient, offered: BaseTool, content: str, way: str
) -> None:
    """What it returns counts, and nothing of the cancellation is left."""
    client = await make_client(offered)

    message = await _ask(client, offered.name, way)

    assert (message["status"], message["content"]) == ("success", content)
    assert _present().cancelling() == 0


@tool(timeout=0.01)
async def overdue() -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


async def test_a_deadline_stays_one(make_client: MakeClient) -> None:
    """Its timer was set in the same context."""
    client = await make_client(overdue)

    assert kind_of(await _ask(client, "overdue", "single")) == "timeout"


async def test_whoever_cancels_the_request_is_obeyed(make_client: MakeClient) -> None:
    """Also while a task of the tool has cancelled the call already."""
    begun = asyncio.Event()

    @tool
    async def stubborn() -> str:
        """Be cancelled by a task, and go on."""
        child = asyncio.create_task(_cancel(_present()))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            begun.set()
            await asyncio.Event().wait()
        return str(child)

    client = await make_client(stubborn)
    request = asyncio.create_task(client.post("/tool_calls", json=write_call("stubborn")))
    async with asyncio.timeout(30):
        await begun.wait()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request

    assert request.cancelled()

"""One client serves the event loops of a program, over real connections."""

import asyncio
import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from sidecall.client import AsyncSidecall, Sidecall
from tests.kit.servers import Server, start

TOOLS = '''
from sidecall import tool


@tool
async def double(number: int) -> int:
    """Double a number."""
    return 2 * number
'''


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, origin: None) -> Iterator[Server]:
    """Start a server with one tool."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "mine.py").write_text(TOOLS)
    server = start(folder, "--tools", "mine.py", environment={}, cwd=folder)
    yield server
    server.stop()


async def _double(server: AsyncSidecall) -> list[object]:
    found = await asyncio.gather(*(server.call("double", {"number": number}) for number in range(5)))
    return [answer.content for answer in found]


async def _double_all(server: AsyncSidecall) -> list[object]:
    async with server:
        return await _double(server)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_event_loops_use_one_client_without_closing_it(running: Server) -> None:
    """What each has left open is dropped when the next one begins, and Python says so where it is asked to."""
    server = AsyncSidecall(running.url)
    found = [asyncio.run(_double(server)) for _ in range(4)]
    asyncio.run(server.close())
    del server
    gc.collect()

    assert found == [["0", "2", "4", "6", "8"]] * 4


def test_event_loops_use_one_client_one_after_the_other(running: Server) -> None:
    """Where each closes its connections; a job of one is asked about in another."""

    async def begin() -> str:
        async with server:
            return (await server.job("double", {"number": 4})).id

    async def end(call_id: str) -> str:
        async with server:
            return (await server.find_job(call_id).wait(30)).status

    server = AsyncSidecall(running.url)
    assert asyncio.run(end(asyncio.run(begin()))) == "succeeded"


def test_event_loops_of_several_threads_use_one_client(running: Server) -> None:
    """At the same time, each over connections of its own."""
    server = AsyncSidecall(running.url)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: asyncio.run(_double_all(server)), range(32)))

    assert found == [["0", "2", "4", "6", "8"]] * 32


async def test_a_client_that_was_closed_stays_closed_on_its_loop(running: Server) -> None:
    """As one of httpx does."""
    server = AsyncSidecall(running.url)
    await server.close()

    with pytest.raises(RuntimeError, match="the client has been closed"):
        await server.tools()


def test_a_transport_is_made_for_each_event_loop(running: Server) -> None:
    """By a function; one that was made already serves the first, and what to do is said on the next."""
    made = AsyncSidecall(running.url, transport=httpx.AsyncHTTPTransport())
    makes = AsyncSidecall(running.url, transport=httpx.AsyncHTTPTransport)

    assert [asyncio.run(_double_all(makes))[1] for _ in range(2)] == ["2", "2"]
    assert asyncio.run(_double_all(made))[1] == "2"
    with pytest.raises(RuntimeError, match="Give `transport` a function that makes one"):
        asyncio.run(_double_all(made))
    with Sidecall(running.url, transport=httpx.HTTPTransport) as blocking:
        assert blocking.call("double", {"number": 4}).content == "8"

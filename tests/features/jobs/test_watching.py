"""A client that watches a call on one server after another hears how it stands, with any event id."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import pytest

from sidecall import ToolContext, tool
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database
from tests.features.jobs.servers import Server, make_server

GO: list[asyncio.Event] = []


@tool
async def cook(context: ToolContext) -> str:
    """Cook.

    Args:
        context: Hears how far it is.
    """
    await context.progress(1, 2)
    await GO[0].wait()
    return "soup"


@pytest.fixture
async def servers(database: Database) -> AsyncIterator[Sequence[Server]]:
    """Give two servers on the same database."""
    if database.dialect == "sqlite":
        pytest.skip("one process has it to itself")
    GO[:] = [asyncio.Event()]
    made = [make_server(database, (cook,)) for _ in range(2)]
    for server in made:
        await server.jobs.open()
    yield made
    GO[0].set()
    for server in made:
        await server.jobs.close()


async def hear(server: Server, entry: CallEntry, last: int, most: int) -> list[tuple[int, str]]:
    """Watch a call until so many things have happened; return their numbers and kinds."""
    heard: list[tuple[int, str]] = []
    async with aclosing(server.jobs.watch(entry, last)) as sights, asyncio.timeout(20):
        async for sight in sights:
            if isinstance(sight, CallEntry):
                break
            for happening in sight or ():
                happening.write(lambda kind, _, number: heard.append((number, kind)) or b"")
            if len(heard) >= most:
                break
    return heard


async def test_a_number_of_another_server_hides_nothing(servers: Sequence[Server]) -> None:
    """Each counts for itself; one's own number goes on where it was."""
    runs, watches = servers
    entry = await runs.submit("cook")
    first = await hear(runs, entry, 0, 2)
    elsewhere = await hear(watches, entry, 0, 1)
    GO[0].set()
    await runs.jobs.wait(entry, 20)
    elsewhere += await hear(watches, entry, elsewhere[-1][0], 1)

    assert [kind for _, kind in first] == ["status", "progress"]
    assert [kind for _, kind in elsewhere] == ["status", "status"]
    assert [kind for _, kind in await hear(watches, entry, first[-1][0], 2)] == ["status", "status"]
    assert (await hear(runs, entry, first[0][0], 1))[0] == first[1]

"""Servers that share a database count the calls of each caller together."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from sidecall.features.rates.quotas import SharedQuotas, SqlRates
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.overload import QuotaExceeded, StoreUnfit
from sidecall.kernel.core.quota import Rate
from sidecall.kernel.registry import Registry
from sidecall.main import create_app
from sidecall.settings import Settings
from sidecall.storage.postgres.database import PostgresDatabase

ANN, BOB = Caller("ann"), Caller("bob")


@pytest.fixture
async def database(emptied_url: str) -> AsyncIterator[PostgresDatabase]:
    """Give a database."""
    opened = PostgresDatabase(emptied_url)
    await opened.open()
    yield opened
    await opened.close()


async def _is_let_in(quotas: SharedQuotas, caller: Caller = ANN) -> bool:
    try:
        waits: Awaitable[None] | None = quotas.take(caller)
        if waits is not None:
            await waits
    except QuotaExceeded:
        return False
    return True


async def _count_let_in(*asked: Awaitable[bool]) -> int:
    return sum(await asyncio.gather(*asked))


@pytest.mark.parametrize(("text", "most"), [("1/day", 1), ("7/day", 7), ("20/hour", 20), ("100/hour", 100)])
async def test_two_servers_let_in_no_more_than_one(database: PostgresDatabase, text: str, most: int) -> None:
    """All at once, and then nobody; another caller is not concerned."""
    servers = [SharedQuotas(Rate.parse(text), SqlRates(database)) for _ in range(2)]

    first = await _count_let_in(*(_is_let_in(servers[number % 2]) for number in range(2 * most + 4)))
    later = await _count_let_in(*(_is_let_in(server) for server in servers))
    other = await _count_let_in(_is_let_in(servers[1], BOB))

    assert (first, later, other) == (most, 0, 1)
    [quota] = servers[0].left(ANN)
    assert quota.left == 0


async def test_a_server_takes_a_twentieth_at_a_time(database: PostgresDatabase) -> None:
    """The others find that part gone, whether its calls come or not."""
    here, there = (SharedQuotas(Rate(40, 86400), SqlRates(database)) for _ in range(2))

    assert await _is_let_in(here)
    told = here.left(ANN)
    in_memory = here.take(ANN)
    let_in = 0
    while await _is_let_in(there):
        let_in += 1

    assert (told[0].most, told[0].left, in_memory) == (40, 39, None)
    assert let_in == 38


async def test_calls_come_back_by_the_clock_of_the_database(database: PostgresDatabase) -> None:
    """However the servers' own clocks go."""
    quotas = SharedQuotas(Rate(2, 1), SqlRates(database))
    let_in = 0

    async with asyncio.timeout(60):
        while let_in < 5:
            let_in += await _is_let_in(quotas)
            await asyncio.sleep(0.01)

    assert let_in == 5


async def test_while_the_store_is_gone_each_counts_for_itself(database: PostgresDatabase) -> None:
    """Nobody is refused for that, and nobody may make more than with one server."""
    quotas = SharedQuotas(Rate(3, 86400), SqlRates(database))
    await database.close()

    assert await _count_let_in(*(_is_let_in(quotas) for _ in range(5))) == 3


async def test_what_has_come_back_is_forgotten(database: PostgresDatabase) -> None:
    """A caller that still owes is not."""
    rates = SqlRates(database)
    await rates.lease("soon", Rate(999_999_999, 1), 1)
    await rates.lease("late", Rate(1, 86400), 1)
    await asyncio.sleep(0.01)

    await rates.forget()

    again = [(await rates.lease(key, Rate(1, 86400), 1)).granted for key in ("soon", "late")]
    assert again == [1, 0]


@pytest.mark.parametrize(
    "store", [lambda _: "memory://", lambda folder: f"sqlite:///{folder}/ledger.db"], ids=["memory", "file"]
)
def test_what_is_not_shared_cannot_count_for_others(tmp_path: Path, store: Callable[[Path], str]) -> None:
    """The setting `shared_rates` stops the start there."""
    settings = Settings(store=store(tmp_path), shared_rates=True)

    with pytest.raises(StoreUnfit, match="SIDECALL_SHARED_RATES"):
        create_app(settings, Registry([]))

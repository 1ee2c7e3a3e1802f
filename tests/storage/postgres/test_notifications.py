"""Servers of one PostgreSQL tell each other where something is new."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import SimpleNamespace

import asyncpg
import pytest

from sidecall.storage.postgres import notifications as notifications_module
from sidecall.storage.postgres.notifications import PostgresNotifications
from tests.kit.ledgers import Clock
from tests.kit.notification_listeners import NotificationLog
from tests.kit.postgres import Cluster
from tests.kit.waiting import until
from tests.storage.sql.wires import wire_to


@dataclass
class Station:
    """The notifications of one server, and what it hears."""

    notifications: PostgresNotifications
    ear: NotificationLog

    async def connect(self) -> None:
        """Begin, and wait until it is connected."""
        await self.notifications.open()
        await until(lambda: self.ear.missed > 0)

    async def calm(self, other: "Station") -> None:
        """Wait until another has heard all that was told so far, and forget it."""
        await until(lambda: not self.notifications._waiting)
        self.notifications.tell("changed", "last")
        await until(lambda: ("changed", "last") in other.ear.heard)
        other.ear.heard.clear()


def make(url: str, owner: str) -> Station:
    """Make the notifications of a server."""
    station = Station(PostgresNotifications(url, owner, 2.0), NotificationLog())
    station.notifications.attach(station.ear)
    return station


@pytest.fixture
async def stations(postgres_url: str) -> AsyncIterator[tuple[Station, Station]]:
    """Give two servers that are connected, and have told each other so."""
    first, second = make(postgres_url, "first"), make(postgres_url, "second")
    await first.connect()
    await second.connect()
    await first.calm(second)
    await second.calm(first)
    yield first, second
    for each in (first, second):
        await each.notifications.close()


async def send(url: str, *payloads: str, channel: str | None = None) -> None:
    """Send as another program of the database does."""
    connection = await asyncpg.connect(url)
    try:
        name = channel or await connection.fetchval("SELECT 'sidecall_' || current_schema()::regnamespace::oid")
        for payload in payloads:
            await connection.execute("SELECT pg_notify($1, $2)", name, payload)
    finally:
        await connection.close()


async def test_others_hear_what_is_told(stations: tuple[Station, Station]) -> None:
    """The one that tells it does not, and what is told again before it was sent is told once."""
    first, second = stations

    for kind, call_id in (("changed", "a"), ("cancel", "b"), ("queued", ""), ("progress", "c"), ("changed", "a")):
        first.notifications.tell(kind, call_id)  # type: ignore[arg-type]
    await until(lambda: len(second.ear.heard) == 4)

    assert second.ear.heard == [("changed", "a"), ("cancel", "b"), ("queued", ""), ("progress", "c")]
    assert first.ear.heard == []


@pytest.mark.parametrize("count", [1, 300, 4999])
async def test_much_goes_in_few_messages(stations: tuple[Station, Station], count: int) -> None:
    """No message is longer than PostgreSQL takes."""
    first, second = stations
    ids = [f"01a202d4-88dd-7581-a083-{number:012}" for number in range(count)]

    for call_id in ids:
        first.notifications.tell("changed", call_id)
    await until(lambda: len(second.ear.heard) == count)

    assert [call_id for _, call_id in second.ear.heard] == ids


async def test_of_too_much_others_hear_to_look_everywhere(stations: tuple[Station, Station]) -> None:
    """What waits to be told has a bound."""
    first, second = stations
    before = second.ear.missed

    for number in range(5001):
        first.notifications.tell("changed", str(number))
    await until(lambda: second.ear.missed > before)
    await until(lambda: ("changed", "5000") in second.ear.heard)

    assert second.ear.heard == [("changed", "5000")]


@pytest.mark.parametrize("payload", ["", "other", "other zz", "other  ", "other c\u00e9 \u2028", "x" * 7000])
async def test_what_is_no_notice_is_passed_over(
    postgres_url: str, stations: tuple[Station, Station], payload: str
) -> None:
    """Any user of the database can send; what they say is looked for at most."""
    await send(postgres_url, payload, "other qx")

    first, _ = stations
    await until(lambda: ("queued", "x") in first.ear.heard)
    assert [kind for kind, _ in first.ear.heard] in (["queued"], ["changed", "queued"])


async def test_another_ledger_of_the_database_is_not_heard(
    postgres_url: str, stations: tuple[Station, Station]
) -> None:
    """Each schema has a channel of its own."""
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("CREATE SCHEMA elsewhere")
    await connection.close()
    third = make(f"{postgres_url}?search_path=elsewhere", "third")
    await third.connect()

    third.notifications.tell("changed", "theirs")
    heard_at = third.notifications._heard_at
    await until(lambda: third.notifications._heard_at > heard_at)
    await stations[0].calm(stations[1])
    await third.notifications.close()

    assert (third.ear.heard, stations[0].ear.heard, stations[1].ear.heard) == ([], [], [])


async def test_one_whose_connection_breaks_looks_once_it_is_back(
    postgres_url: str, stations: tuple[Station, Station]
) -> None:
    """And so do the others, who may have missed what it has told meanwhile."""
    first, second = stations
    missed = first.ear.missed, second.ear.missed
    pid = first.notifications._link.connection.get_server_pid()  # type: ignore[union-attr]
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("SELECT pg_terminate_backend($1)", pid)
    await connection.close()

    await until(lambda: first.ear.missed > missed[0] and second.ear.missed > missed[1])
    second.notifications.tell("cancel", "a")
    await until(lambda: ("cancel", "a") in first.ear.heard)


async def test_a_dead_line_is_found_out(cluster: Cluster, postgres_url: str) -> None:
    """Also where nobody says that it is, and nothing is to be told."""
    async with AsyncExitStack() as stack:
        wire = await stack.enter_async_context(wire_to(cluster.port))
        station = make(postgres_url.replace(f":{cluster.port}/", f":{wire.port}/"), "first")
        stack.push_async_callback(station.notifications.close)
        await station.connect()
        before = station.ear.missed

        wire.hold()
        await until(lambda: station.notifications._link.connection is None)
        wire.cut()
        wire.release()

        await until(lambda: station.ear.missed > before)


async def test_a_database_that_is_away_at_the_start_holds_nobody_up(cluster: Cluster, postgres_url: str) -> None:
    """It is connected later."""
    async with AsyncExitStack() as stack:
        wire = await stack.enter_async_context(wire_to(cluster.port))
        wire.hold()
        station = make(postgres_url.replace(f":{cluster.port}/", f":{wire.port}/"), "first")
        stack.push_async_callback(station.notifications.close)
        await station.notifications.open()
        station.notifications.tell("changed", "lost")
        assert station.ear.missed == 0

        wire.release()
        await until(lambda: station.ear.missed > 0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give the clock by which servers judge how long they have not heard themselves; they look soon."""
    clock = Clock()
    monkeypatch.setattr(notifications_module, "_SELDOM", 0.1)
    monkeypatch.setattr(notifications_module, "time", SimpleNamespace(monotonic=clock))
    return clock


async def test_where_it_cannot_connect_the_log_says_why(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    """As where a user has no more connections; the ledger goes on."""
    name = cluster.make_user()
    cluster.run("createdb", "--owner", name, name)
    cluster.run("psql", "-q", "-d", "postgres", "-c", f"ALTER ROLE {name} CONNECTION LIMIT 0")
    station = make(f"postgresql://{name}:x@127.0.0.1:{cluster.port}/{name}", "first")

    with caplog.at_level(logging.WARNING, "sidecall"):
        await station.notifications.open()
        await until(lambda: station.notifications._link.trouble is not None)
        clock.now += 10
        await until(lambda: station.notifications._is_deaf)
        await asyncio.sleep(0.2)
        cluster.run("psql", "-q", "-d", "postgres", "-c", f"ALTER ROLE {name} CONNECTION LIMIT 9")
        await until(lambda: not station.notifications._is_deaf)
    await station.notifications.close()

    said = [record.getMessage() for record in caplog.records]
    assert (len(said), said[0].endswith(f'later: too many connections for role "{name}"')) == (2, True)


async def carry_out(notifications: PostgresNotifications, statement: str) -> None:
    """Carry out a statement on the connection of a server, once no message of its is under way."""
    connection, notifications._link.connection = notifications._link.connection, None
    assert connection is not None
    async with asyncio.timeout(30):
        while True:
            try:
                await connection.execute(statement)
                break
            except asyncpg.InterfaceError:
                await asyncio.sleep(0.01)
    notifications._link.connection = connection


async def test_where_nothing_is_passed_on_the_log_says_so_once(
    clock: Clock, stations: tuple[Station, Station], caplog: pytest.LogCaptureFixture
) -> None:
    """As behind a pooler in its transaction mode; and when it is again."""
    notifications = stations[0].notifications
    await stations[1].notifications.close()  # Its clock is the same.
    with caplog.at_level(logging.WARNING, "sidecall"):
        await carry_out(notifications, "UNLISTEN *")
        clock.now += 10
        notifications.tell("queued")
        await until(lambda: notifications._is_deaf)
        await carry_out(notifications, f"LISTEN {notifications._channel}")
        await until(lambda: not notifications._is_deaf)

    said = [record.getMessage() for record in caplog.records]
    assert [text.partition(" passes ")[2][:20] for text in said] == ["on no notifications ", "on notifications"]

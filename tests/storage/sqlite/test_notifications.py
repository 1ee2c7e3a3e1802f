"""Workers that share a file tell each other where something is new, by the process that writes it."""

import asyncio
import os
import signal
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.messages import Messages, Told, pack_message
from sidecall.storage.sqlite.shared_writer import SharedWriter
from sidecall.storage.sqlite.tables import LEDGER
from tests.kit.notification_listeners import NotificationLog
from tests.kit.processes import find_writers
from tests.kit.waiting import until


@dataclass
class Station:
    """The file as one worker has it open, and what it hears."""

    database: SqliteDatabase
    ear: NotificationLog

    async def calm(self, *others: "Station") -> None:
        """Wait until others have heard all that was told so far, and forget it."""
        self.database.notifications.tell("changed", "last")
        for other in others:
            await until(lambda other=other: ("changed", "last") in other.ear.heard)  # type: ignore[misc]
            other.ear.heard.clear()


def make(path: Path, link: socket.socket) -> Station:
    """Make what a worker has."""
    station = Station(SqliteDatabase(path, purpose=replace(LEDGER, is_alone=True, writer=link)), NotificationLog())
    station.database.notifications.attach(station.ear)
    return station


@pytest.fixture
async def stations(path: Path, writer: SharedWriter) -> AsyncIterator[list[Station]]:
    """Give three workers that have told each other that they are there."""
    made = [make(path, writer.socket) for _ in range(3)]
    for station in made:
        await station.database.open()
        await station.database.notifications.open()
    for station in made:
        await station.calm(*(other for other in made if other is not station))
    yield made
    for station in made:
        await station.database.notifications.close()
        await station.database.close()


@pytest.fixture
async def deaf(writer: SharedWriter, stations: list[Station]) -> AsyncIterator[socket.socket]:
    """Give the socket of a fourth one, which reads nothing by itself."""
    ours, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(writer.socket, [b"%d" % os.getpid()], [theirs.fileno()])
    await stations[0].database.write("register_server", "later", 1.0)  # It was let in by then.
    with ours:
        yield ours


async def test_all_others_hear_what_is_told(stations: list[Station]) -> None:
    """The one that tells it does not, and what is told again before it was sent is told once."""
    first, *others = stations

    for kind, call_id in (("changed", "a"), ("cancel", "b"), ("queued", ""), ("progress", "c"), ("changed", "a")):
        first.database.notifications.tell(kind, call_id)  # type: ignore[arg-type]
    for other in others:
        await until(lambda other=other: len(other.ear.heard) == 4)  # type: ignore[misc]

    said = [("changed", "a"), ("cancel", "b"), ("queued", ""), ("progress", "c")]
    assert [station.ear.heard for station in stations] == [[], said, said]


async def test_what_was_written_before_it_is_told_is_there(stations: list[Station]) -> None:
    """Who hears of it finds it, amid other writes and notifications of both."""
    first, second, _ = stations
    found = []
    for number in range(50):
        meanwhile = [second.database.write("register_server", f"other {number} {each}", 1.0) for each in range(3)]
        second.database.notifications.tell("queued")
        await first.database.write("register_server", f"{number:02}", 1.0)
        first.database.notifications.tell("changed", f"{number:02}")
        await until(lambda number=number: ("changed", f"{number:02}") in second.ear.heard)  # type: ignore[misc]
        found.append(f"{number:02}" in {row[0] for row in await second.database.read("find_servers")})
        await asyncio.gather(*meanwhile)

    assert found == [True] * 50


async def test_of_too_much_others_hear_to_look_everywhere(stations: list[Station]) -> None:
    """What waits to be told has a bound."""
    first, second, _ = stations
    before = second.ear.missed

    for number in range(5001):
        first.database.notifications.tell("changed", str(number))
    await until(lambda: ("changed", "5000") in second.ear.heard)

    assert (second.ear.heard, second.ear.missed - before) == ([("changed", "5000")], 1)


async def test_who_does_not_read_holds_up_nobody(stations: list[Station], deaf: socket.socket) -> None:
    """And has to be told no more than to look everywhere, once there was too much."""
    first, second, _ = stations
    ids = [f"01a202d4-88dd-7581-a083-{number:012}" for number in range(20_000)]
    for start in range(0, len(ids), 100):
        for call_id in ids[start : start + 100]:
            first.database.notifications.tell("changed", call_id)
        await until(lambda start=start: len(second.ear.heard) == start + 100)  # type: ignore[misc]
    words = await asyncio.to_thread(_read_words, deaf, f"c{ids[-1]}")

    assert [call_id for _, call_id in second.ear.heard] == ids
    assert ("m" in words, len(words) < len(ids)) == (True, True)


def _read_words(link: socket.socket, last: str) -> list[str]:
    """Read what is told, until this is."""
    messages, words = Messages(), list[str]()
    link.settimeout(20)
    while last not in words:
        for message in messages.feed(link.recv(65_536)):
            if isinstance(message, Told):
                words += message.words
    return words


@pytest.mark.parametrize("word", ["", "z", "zz", "mm", "\u2028", "x" * 100_000])
async def test_what_is_no_notice_is_passed_over(stations: list[Station], deaf: socket.socket, word: str) -> None:
    """As a newer worker might send it."""
    first, missed = stations[0], stations[0].ear.missed
    deaf.sendall(b"".join(pack_message(Told([word, "qa"]))))

    await until(lambda: ("queued", "a") in first.ear.heard)
    assert first.ear.heard in ([("queued", "a")], [("cancel", word[1:]), ("queued", "a")])
    assert first.ear.missed == missed


async def test_where_another_process_takes_the_place_all_look_once(stations: list[Station]) -> None:
    """What was told meanwhile is lost; then all hear each other again."""
    missed = [station.ear.missed for station in stations]
    os.kill(find_writers()[0], signal.SIGKILL)
    await until(lambda: all(station.database.trouble is not None for station in stations))
    stations[0].database.notifications.tell("changed", "meanwhile")
    await until(lambda: all(station.database.trouble is None for station in stations))
    await until(lambda: all(now.ear.missed > was for now, was in zip(stations, missed, strict=True)))

    for station in stations:
        others = [other for other in stations if other is not station]
        await until(lambda others=others: all(other.ear.missed > 0 for other in others))  # type: ignore[misc]
        await station.calm(*others)


async def test_they_are_passed_on_while_the_file_cannot_be_used(path: Path, stations: list[Station]) -> None:
    """They are no part of it."""
    first, second, _ = stations
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        refused = first.database.write("register_server", "refused", 1.0)
        await until(lambda: first.database.trouble is not None)
        first.database.notifications.tell("cancel", "a")
        await until(lambda: ("cancel", "a") in second.ear.heard)
        other.execute("ROLLBACK")
    await asyncio.gather(refused, return_exceptions=True)


async def test_the_last_words_of_one_that_ends_are_heard(stations: list[Station]) -> None:
    """And none after that, which harm nobody."""
    first, second, third = stations
    first.database.notifications.tell("queued", "last")
    await first.database.notifications.close()
    first.database.notifications.tell("queued", "too late")
    await second.calm(third)
    await until(lambda: ("queued", "last") in second.ear.heard)

    assert [kind for kind, _ in second.ear.heard] == ["queued"]


async def test_one_that_comes_has_the_others_look(path: Path, writer: SharedWriter, stations: list[Station]) -> None:
    """As where a worker takes the place of one that was killed."""
    missed = [station.ear.missed for station in stations]
    late = make(path, writer.socket)
    await late.database.open()
    late.database.notifications.tell("changed", "before it is open")
    await late.database.notifications.open()
    await until(lambda: all(now.ear.missed > was for now, was in zip(stations, missed, strict=True)))
    await late.database.notifications.close()
    await late.database.close()

    assert (late.ear.missed, [station.ear.heard for station in stations]) == (1, [[], [], []])

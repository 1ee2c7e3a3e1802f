"""Processes that are killed while a file is written: the server, the process that writes for it, or both."""

import asyncio
import itertools
import os
import random
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import uvloop

from tests.kit.lines import Line, call
from tests.kit.processes import find_writers, has_ended
from tests.kit.servers import Server
from tests.kit.waiting import until
from tests.storage.sql import killing
from trials.durable.clients import Clients
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

_LINES = 16
_Victims = Literal["server", "writer", "both"]
_PLAIN = call("echo", mark="plain")
_JOB = _PLAIN.replace(b"\r\n\r\n", b"\r\nprefer: respond-async\r\n\r\n", 1)
# Of the writes of a machine that has nothing else to do.
_PACE = 5000
_BAR = "the files open, integrity_check says ok, and all that was acknowledged is there"


def run_shortly() -> Iterator[Finding]:
    """Kill each of them once."""
    with homes("sqlite") as found:
        yield uvloop.run(_serve_and_kill(found[0], rounds=3))


def run() -> Iterator[Finding]:
    """Try B13."""
    yield _write_and_kill(rounds=50)
    with homes("sqlite") as found:
        yield uvloop.run(_serve_and_kill(found[0], rounds=50))


def _write_and_kill(rounds: int) -> Finding:
    """Kill programs that do nothing but write."""
    said: set[str] = set()
    damaged, lost, rates = Counter[str](), 0, []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        for number, victims in zip(range(rounds), itertools.cycle(get_args(_Victims)), strict=False):
            written = killing.kill(path, number, victims)
            said |= written.said
            rates.append(len(written.said) / written.seconds)
            whole, there = killing.find(path)
            damaged[whole] += 1
            lost += len(said - there)
    rate = sorted(rates)[rounds // 2]
    return Finding(
        "B13",
        f"100 writers, {rounds} times SIGKILL to their process, to that which writes the file, or both",
        f"{_BAR}; ≥ {_PACE:,} writes a second",
        f"{len(said):,} writes acknowledged, {rate:,.0f} a second; {lost} lost; integrity {dict(damaged)}",
        lost == 0 and set(damaged) == {"ok"},
        rate >= _PACE,
    )


@dataclass
class _Load:
    """Jobs and plain calls, with their answers."""

    server: Server
    accepted: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    async def go_on(self, seconds: float) -> None:
        """Send jobs, and a plain call with every fourth, until the time is over or the server gone."""
        began = time.monotonic()
        await asyncio.gather(*(self._send(began + seconds) for _ in range(_LINES)))
        self.seconds += time.monotonic() - began

    async def _send(self, until: float) -> None:
        line = Line(self.server.port)
        number = 0
        while time.monotonic() < until:
            number += 1
            answer = await line.ask(_PLAIN if number % 4 == 0 else _JOB)
            self.statuses[answer.failure or f"{answer.status}"] += 1
            if answer.status == 202:
                self.accepted.add(answer.headers["location"].rpartition("/")[2])
            if answer.failure:
                break
        line.close()


async def _serve_and_kill(home: Deployment, rounds: int) -> Finding:
    """Kill real servers during jobs and plain calls, whose history is in a file of its own."""
    server = await asyncio.to_thread(home.start)
    load = _Load(server)
    damaged, lost = Counter[str](), 0
    for victims in itertools.islice(itertools.cycle(get_args(_Victims)), rounds):
        writers = find_writers(server.pid)
        going = asyncio.create_task(load.go_on(0.6))
        await asyncio.sleep(random.uniform(0.2, 0.6))
        _kill(server, writers, victims)
        await going
        assert all(await asyncio.gather(*(asyncio.to_thread(has_ended, one) for one in writers)))
        damaged.update(_check(home))
        lost += len(load.accepted - _find_calls(home))
        if victims != "writer":
            home.kill(server)
            load.server = server = await asyncio.to_thread(home.start)
        await _wait_until_ready(server)
    return Finding(
        "B13",
        f"{home.kind}: jobs and plain calls on {_LINES} connections, {rounds} times SIGKILL to the server, to the "
        "process that writes for it, or both",
        f"{_BAR}; the history's file too; no 500",
        f"{len(load.accepted):,} jobs accepted, {len(load.accepted) / load.seconds:,.0f} a second, each two writes; "
        f"{lost} lost; integrity {dict(damaged)}; answers {dict(load.statuses)}",
        lost == 0 and set(damaged) == {"ok"} and set(load.statuses) <= {"200", "202", "503", "reset", "refused"},
    )


def _kill(server: Server, writers: list[int], victims: _Victims) -> None:
    for process in ([server.pid] if victims != "writer" else []) + (writers if victims != "server" else []):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _check(home: Deployment) -> list[str]:
    said = []
    for name in ("ledger.db", "ledger.history.db"):
        with closing(sqlite3.connect(home.folder / name, timeout=30)) as connection:
            said.append(str(connection.execute("PRAGMA integrity_check").fetchone()[0]))
    return said


def _find_calls(home: Deployment) -> set[str]:
    with closing(sqlite3.connect(home.folder / "ledger.db", timeout=30)) as connection:
        return {row[0] for row in connection.execute("SELECT id FROM calls")}


async def _wait_until_ready(server: Server) -> None:
    """Wait until the server can write again; what is asked here is answered with 503 before."""
    await until(lambda: bool(find_writers(server.pid)))
    clients = Clients(lambda: server)
    await clients.ask("GET", "/readyz")
    await clients.client.aclose()

"""Servers that are killed between the end of a job and the word of it that its client was promised."""

import asyncio
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field

import uvloop

from tests.features.webhooks.listening import SECRET, Listening, listen
from tests.kit.servers import Server
from tests.kit.waiting import until
from trials.durable.clients import ENDED, Clients
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

# A message that was under way is left alone for a minute; the rest is for a machine with more to do.
_PATIENCE = 120.0
# Seconds for each kill, in which some jobs have ended.
_EACH = 30.0


def run_shortly() -> Iterator[Finding]:
    """Kill a server once, on a file, and have nothing left alone for a minute afterwards."""
    with homes("sqlite") as found:
        yield uvloop.run(_tell(found[0], jobs=20, kills=1, before_start=_let_a_minute_pass))


def run_on_postgres() -> Iterator[Finding]:
    """Kill a server twice, on a database."""
    with homes("postgres") as found:
        for home in found:
            yield uvloop.run(_tell(home, jobs=20, kills=2))


def run() -> Iterator[Finding]:
    """Try it on a file and a database."""
    with homes("sqlite", "postgres") as found:
        for home in found:
            yield uvloop.run(_tell(home, jobs=50, kills=10))


@dataclass
class _Report:
    """Ids of calls: all, those that ended before a kill, and those whose webhook came before it."""

    accepted: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    heard: set[str] = field(default_factory=set)


def _let_a_minute_pass(home: Deployment) -> None:
    """Write into a file that each message is due a minute earlier; what still writes it ends soon after its server."""
    path = home.store.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, timeout=_EACH)) as file, file:
        file.execute("UPDATE calls SET callback_at = callback_at - 60")


async def _tell(
    home: Deployment, jobs: int, kills: int, before_start: Callable[[Deployment], None] = lambda _: None
) -> Finding:
    told = _Report()
    async with listen() as listening:
        for _ in range(kills):
            server = await asyncio.to_thread(_start, home, listening)
            async with asyncio.timeout(_EACH):
                await _end_and_kill(home, server, listening, told, jobs)
        await asyncio.to_thread(before_start, home)
        await asyncio.to_thread(_start, home, listening)
        with suppress(TimeoutError):
            await until(lambda: set(_count(listening)) >= {f"msg_{one}" for one in told.accepted}, _PATIENCE)
        counted = _count(listening)
    missing = {f"msg_{one}" for one in told.accepted} - set(counted)
    others = set(counted) - {f"msg_{one}" for one in told.accepted}
    wrong = [one for one in listening.heard if one.headers["webhook-id"] != f"msg_{one.said['data']['id']}"]
    twice = sum(len(bodies) > 1 for bodies in counted.values())
    unlike = sum(len(set(bodies)) > 1 for bodies in counted.values())
    return Finding(
        "durable",
        f"{home.kind}: {len(told.accepted)} jobs with a callback_url, {kills} times SIGKILL as soon as some have "
        "ended, and a start",
        "each end is told at least once, always under one webhook-id and in the same words",
        f"{len(counted)} told, {twice} of them twice; {len(told.ended - told.heard)} had ended and were not told yet "
        f"at a kill; {len(missing)} never told, {unlike} in two ways, {len(wrong) + len(others)} under another id",
        not (missing or others or wrong or unlike) and bool(told.ended - told.heard),
    )


def _start(home: Deployment, listening: Listening) -> Server:
    return home.start(SIDECALL_WEBHOOK_HOSTS=listening.host, SIDECALL_WEBHOOK_SECRET=SECRET)


def _count(listening: Listening) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for message in listening.heard:
        found.setdefault(message.headers["webhook-id"], []).append(message.body)
    return found


async def _end_and_kill(home: Deployment, server: Server, listening: Listening, told: _Report, jobs: int) -> None:
    """Have jobs accepted, and kill the server when some have ended; messages are sent within a second of that."""
    clients = Clients(lambda: server)
    call = {"name": "put", "args": {"mark": "told", "seconds": 0.2}, "callback_url": f"{listening.host}/told"}
    accepted = [await clients.ask("POST", "/tool_calls", json=call) for _ in range(jobs)]
    told.accepted |= {answer.json()["id"] for answer in accepted}
    ended: set[str] = set()
    while not ended:
        listed = (await clients.ask("GET", f"/tool_calls?limit={jobs}")).json()
        ended = {one["id"] for one in listed if one["status"] in ENDED} & told.accepted - told.ended
    await asyncio.sleep(random.uniform(0, 0.3))
    heard = {name.removeprefix("msg_") for name in _count(listening)}
    home.kill(server)
    told.ended |= ended
    told.heard |= heard
    await clients.client.aclose()

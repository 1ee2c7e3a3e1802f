"""Approvals of which somebody is told, though the receiver is away for a minute and the server is killed."""

import asyncio
import base64
import hashlib
import hmac
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvloop

from sidecall.features.webhooks.signing import read_key
from tests.features.webhooks.listening import SECRET, Heard, Listening
from tests.kit.servers import Server
from tests.kit.waiting import until
from trials.durable.clients import Clients
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

_EXPIRING = "approval.expiring"
_EVENTS = ("approval.requested", _EXPIRING, "approval.decided")
# Seconds from the question to the second message, half of those for which an approval waits.
_HALF = 150.0
# Seconds for which the receiver is away.
_AWAY = 60.0
# Seconds after the receiver is back: of the fourth try, and those that a machine with more to do may take.
_PATIENCE = 300.0
_BUSY = 60.0


def run() -> Iterator[Finding]:
    """Try it on a file and a database."""
    with homes("sqlite", "postgres") as found:
        for home in found:
            yield uvloop.run(_tell_for_minutes(_Trial(home), 500))


def run_shortly() -> Iterator[Finding]:
    """Try it on a file, in which the time for the next try is brought forward."""
    with homes("sqlite") as found:
        yield uvloop.run(_tell_shortly(_Trial(found[0], ttl=3600.0, notice=1.0), 12))


@dataclass
class _Trial:
    """A home with one server, and a receiver that can be away."""

    home: Deployment
    ttl: float = 2 * _HALF
    notice: float = 2 * _HALF
    listening: Listening = field(default_factory=Listening)
    ids: list[str] = field(default_factory=list)
    _door: asyncio.Server | None = None
    _server: Server | None = None

    async def come(self) -> None:
        """Let the receiver listen, at the same address each time."""
        self._door = await asyncio.start_server(self.listening.answer, "127.0.0.1", self.listening.port)
        self.listening.port = self._door.sockets[0].getsockname()[1]

    def leave(self) -> None:
        """Let it refuse connections."""
        if self._door is not None:
            self._door.close()

    async def start(self) -> None:
        """Start the server."""
        settings = {
            "SIDECALL_APPROVAL_WEBHOOKS": f"{self.listening.host}/told",
            "SIDECALL_WEBHOOK_SECRET": SECRET,
            "SIDECALL_APPROVAL_TTL": str(self.ttl),
            "SIDECALL_APPROVAL_EXPIRY_NOTICE": str(self.notice),
        }
        self._server = await asyncio.to_thread(lambda: self.home.start(**settings))

    async def kill(self) -> None:
        """Kill it, and start another one."""
        assert self._server is not None
        self.home.kill(self._server)
        await self.start()

    @asynccontextmanager
    async def clients(self) -> AsyncIterator[Clients]:
        """Give clients of the server that is up."""
        clients = Clients(lambda: self._server or self.home.servers[-1])
        try:
            yield clients
        finally:
            await clients.client.aclose()

    async def ask(self, clients: Clients, count: int) -> list[str]:
        """Send calls that need an approval, and return its ids."""
        first = len(self.ids)
        calls = [
            {"name": "pay", "args": {"mark": f"m{number}"}, "id": f"m{number}"}
            for number in range(first, first + count)
        ]
        answers = await _send_all(clients, [("/tool_calls", call) for call in calls])
        new = [str(answer.json()["id"]) for answer in answers]
        self.ids += new
        return new

    async def decide(self, clients: Clients, ids: Sequence[str]) -> None:
        """Decide about some; one whose answer was lost in a kill is decided already."""
        decisions = [{"decision": "approve" if number % 2 else "reject"} for number in range(len(ids))]
        places = [f"/approvals/{one}" for one in ids]
        answers = await _send_all(clients, list(zip(places, decisions, strict=True)))
        assert {answer.status_code for answer in answers} <= {200, 409}, [answer.text for answer in answers]

    def count(self, event: str) -> int:
        """Count the approvals of which the receiver has heard this."""
        return len({one.said["data"]["id"] for one in self.listening.heard if one.said["type"] == event})

    def bring_forward(self) -> None:
        """Have each message be due now."""
        self._run("UPDATE approval_messages SET due_at = 0 RETURNING 0")

    def have_all_been_tried(self) -> bool:
        """Return whether each message was sent, or refused."""
        return self._run("SELECT count(*) FROM approval_messages WHERE tries = 0") == [(0,)]

    def _run(self, statement: str) -> list[tuple[int]]:
        with closing(sqlite3.connect(self.home.store.removeprefix("sqlite:///"), timeout=_BUSY)) as file, file:
            return file.execute(statement).fetchall()


async def _send_all(clients: Clients, posts: Sequence[tuple[str, Any]]) -> list[httpx.Response]:
    """Send requests, a few at a time."""
    turns = asyncio.Semaphore(10)

    async def send(path: str, body: Any) -> httpx.Response:
        async with turns:
            return await clients.ask("POST", path, json=body)

    return await asyncio.gather(*(send(*post) for post in posts))


async def _tell_shortly(trial: _Trial, count: int) -> Finding:
    await trial.come()
    await trial.start()
    async with trial.clients() as clients:
        ids = await trial.ask(clients, count // 2)
        await until(lambda: trial.count(_EVENTS[0]) == count // 2, _BUSY)
        trial.leave()
        ids += await trial.ask(clients, count - count // 2)
        await asyncio.to_thread(trial.bring_forward)
        await until(trial.have_all_been_tried, _BUSY)
        await trial.decide(clients, ids[: count // 2])
        await trial.kill()
        await trial.decide(clients, ids[count // 2 :])
        await trial.come()
        await asyncio.to_thread(trial.bring_forward)
        await _hear_all(trial, _BUSY)
    trial.leave()
    return _judge(trial, "the receiver away for most of it")


async def _tell_for_minutes(trial: _Trial, count: int) -> Finding:
    """Have it be away for a minute in which some are asked, some expire soon, and others are decided."""
    third, now = count // 3, asyncio.get_running_loop().time
    await trial.come()
    await trial.start()
    async with trial.clients() as clients:
        early = await trial.ask(clients, third)
        await asyncio.sleep(20.0)
        later = await trial.ask(clients, third)
        soon = now() + _HALF
        await until(lambda: trial.count(_EXPIRING) >= third, _PATIENCE)
        trial.leave()
        back = now() + _AWAY
        changing = asyncio.gather(trial.ask(clients, count - 2 * third), trial.decide(clients, early))
        await asyncio.sleep(0.5)
        await trial.kill()
        late, _ = await changing
        await asyncio.sleep(back - now())
        await trial.come()
        await asyncio.sleep(soon + 10.0 - now())
        await trial.decide(clients, later)
        await _hear_all(trial, _PATIENCE, _EVENTS[:2])
        await trial.decide(clients, late)
        await _hear_all(trial, _PATIENCE)
    trial.leave()
    return _judge(trial, "the receiver away for a minute")


async def _hear_all(trial: _Trial, seconds: float, events: Sequence[str] = _EVENTS) -> None:
    with suppress(TimeoutError):
        await until(lambda: all(trial.count(event) == len(trial.ids) for event in events), seconds)


def _judge(trial: _Trial, how: str) -> Finding:
    heard = trial.listening.heard
    counted = {event: trial.count(event) for event in _EVENTS}
    unsigned = sum(not is_signed(one) for one in heard)
    bodies: dict[str, set[bytes]] = {}
    for one in heard:
        bodies.setdefault(one.headers["webhook-id"], set()).add(one.body)
    unlike = sum(len(found) > 1 for found in bodies.values())
    return Finding(
        "durable",
        f"{trial.home.kind}: {len(trial.ids)} approvals that are asked for, expire soon and are decided, {how}, and "
        "the server killed with SIGKILL once",
        "a receiver is told of each at least once, always in the same words, and each message is signed",
        f"told of {', '.join(f'{count} {event}' for event, count in counted.items())}; {len(heard)} messages, "
        f"{len(heard) - len(bodies)} of them again; {unsigned} unsigned, {unlike} in two ways",
        not (unsigned or unlike) and set(counted.values()) == {len(trial.ids)},
    )


def is_signed(message: Heard) -> bool:
    """Return whether a message has the signature of its words."""
    headers: Mapping[str, str] = message.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + message.body
    right = base64.b64encode(hmac.digest(read_key(SECRET), signed, hashlib.sha256)).decode()
    return headers["webhook-signature"] == f"v1,{right}"

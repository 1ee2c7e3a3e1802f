"""Servers that are killed while they run remembered calls."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import uvloop

from trials.durable.clients import Clients, Sent
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

# Clients at once.
_LINES = 25
# Timeout in seconds: some for each kill, after which calls wait until the dead server has been
# silent for long enough.
_EACH, _REST = 25.0, 120.0


@dataclass
class _Outcome:
    sent: Sequence[Sent]
    refused: int
    statuses: Counter[str]


def run_shortly() -> Iterator[Finding]:
    """Try one kill on a file."""
    with homes("sqlite") as found:
        for home in found:
            yield _jobs(home, jobs=100, kills=1)


def run_on_postgres() -> Iterator[Finding]:
    """Try some kills on a database, in two minutes."""
    with homes("postgres") as found:
        for home in found:
            yield _jobs(home, jobs=200, kills=2)
            home.stop()
            yield _answers(home, calls=100, kills=2)


def run() -> Iterator[Finding]:
    """Try many on a file and a database, and none in memory, which is not to outlive its server."""
    with homes("sqlite", "postgres") as found:
        for home in found:
            yield _jobs(home, jobs=2000, kills=5)
    with homes("memory", "memory") as found:
        yield _jobs(found[0], jobs=500, kills=0)
        yield _answers(found[1], calls=500, kills=0)
    with homes("sqlite", "postgres") as found:
        for home in found:
            yield _answers(home, calls=1000, kills=20)


def _jobs(home: Deployment, jobs: int, kills: int) -> Finding:
    sent = _make_calls(jobs)
    outcome = uvloop.run(_under_kills(home, sent, kills, Prefer="respond-async"))
    effects = home.effects
    unended = [one for one in sent if len(one.ends) != 2 or one.strange]
    unlike = [one for one in sent if len({str(end) for end in one.ends}) > 1]
    return _find(home, f"{jobs} jobs, {kills} times SIGKILL and a start", outcome, effects, len(unended), len(unlike))


def _answers(home: Deployment, calls: int, kills: int) -> Finding:
    sent = _make_calls(calls)
    outcome = uvloop.run(_under_kills(home, sent, kills))
    lost = [one for one in sent if len(one.answers) != 2 or one.strange]
    unlike = [one for one in sent if len(set(one.answers)) > 1]
    what = f"{calls} calls with a key whose clients wait, {kills} times SIGKILL and a start"
    return _find(home, what, outcome, home.effects, len(lost), len(unlike))


def _make_calls(count: int) -> list[Sent]:
    return [Sent("put" if number % 2 else "add", f"{number}") for number in range(count)]


def _find(home: Deployment, what: str, outcome: _Outcome, effects: Counter[str], lost: int, unlike: int) -> Finding:
    missing = [one for one in outcome.sent if one.tool == "put" and effects[one.mark] == 0]
    twice = [one for one in outcome.sent if one.tool == "add" and effects[one.mark] > 1]
    wrong = [one for one in outcome.sent if one.tool == "add" and _succeeded(one) and effects[one.mark] != 1]
    again = sum(effects[one.mark] > 1 for one in outcome.sent if one.tool == "put")
    strange = next((one.strange[0] for one in outcome.sent if one.strange), "")
    return Finding(
        "durable",
        f"{home.kind}: {what}; every other tool is idempotent; refused clients send the same key again",
        "0 lost, 0 answered in two ways, 0 idempotent without effect, 0 others with two, or succeeded without one",
        f"{lost} lost, {unlike} in two ways, {len(missing)} without effect, {len(twice)} with two, {len(wrong)} "
        f"succeeded without one; {again} idempotent ones ran again; {dict(outcome.statuses)}; "
        f"{outcome.refused} refusals {strange}",
        not (lost or unlike or missing or twice or wrong),
    )


def _succeeded(sent: Sent) -> bool:
    if sent.ends:
        return bool(sent.ends[0]["status"] == "succeeded")
    return bool(sent.answers) and b'"status":"success"' in sent.answers[0]


async def _under_kills(home: Deployment, sent: Sequence[Sent], kills: int, **headers: str) -> _Outcome:
    async with asyncio.timeout(_EACH * kills + _REST):
        return await _send_and_kill(home, sent, kills, **headers)


async def _send_and_kill(home: Deployment, sent: Sequence[Sent], kills: int, **headers: str) -> _Outcome:
    server = await asyncio.to_thread(home.start)
    clients = Clients(lambda: server)
    waiting = list(sent)
    left = kills

    async def send_some() -> None:
        while waiting:
            one = waiting.pop()
            await clients.send(one, 0.05, **headers)
            await asyncio.sleep(random.uniform(0, 0.05))

    async def ask_twice(some: Sequence[Sent]) -> None:
        for one in some:
            await (clients.follow(one) if headers else clients.send(one, 0.05))

    sending = asyncio.gather(*(send_some() for _ in range(_LINES)))
    while left:
        # Not all of it before the last kill.
        while len(waiting) > len(sent) * left // (kills + 1):  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)
        await asyncio.sleep(random.uniform(0, 0.1))
        await asyncio.to_thread(home.kill, server)
        server = await asyncio.to_thread(home.start)
        left -= 1
    await sending
    await asyncio.gather(*(ask_twice(sent[number::_LINES]) for number in range(_LINES)))
    await clients.client.aclose()
    return _Outcome(sent, clients.refused, Counter(_status(one) for one in sent))


def _status(sent: Sent) -> str:
    if sent.ends:
        return str(sent.ends[0]["status"])
    if not sent.answers:
        return "none"
    if b"outcome_unknown" in sent.answers[0]:
        return "outcome_unknown"
    return "succeeded" if _succeeded(sent) else "failed"

"""Three servers on one database, of which each stands still for longer than the others wait, and goes on."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Iterator, Sequence

import httpx
import uvloop

from tests.kit.servers import Server
from trials.durable.clients import Clients, Sent
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

# Seconds: others take over after ten.
_STILL = 25.0
_PATIENCE = 180.0
_LINES = 12
_WORKING = 0.3


def run() -> Iterator[Finding]:
    """Freeze each of the three, and kill one."""
    yield from _try(calls=300, freezes=3)


def run_shortly() -> Iterator[Finding]:
    """Freeze one of them."""
    yield from _try(calls=60, freezes=1)


def _try(calls: int, freezes: int) -> Iterator[Finding]:
    with homes("postgres") as found:
        for home in found:
            yield _freeze(home, calls, freezes)


def _freeze(home: Deployment, calls: int, freezes: int) -> Finding:
    jobs = [Sent("put" if number % 2 else "add", f"job {number}") for number in range(calls)]
    keyed = [Sent("put" if number % 2 else "add", f"call {number}") for number in range(calls)]
    paid = [Sent("pay", f"bill {number}") for number in range(calls)]
    servers = [home.start() for _ in range(3)]
    uvloop.run(_run(servers, (jobs, keyed, paid), freezes))
    effects = home.effects
    every = [*jobs, *keyed, *paid]
    twice = [one.mark for one in every if one.tool != "put" and effects[one.mark] > 1]
    untrue = [one.mark for one in every if _has_succeeded(one) and not effects[one.mark]]
    unlike = [one.mark for one in every if len({str(end) for end in one.ends}) > 1 or len(set(one.answers)) > 1]
    strange = [f"{one.mark}: {one.strange[0]}" for one in every if one.strange]
    ended = Counter(_name_end(one) for one in every)
    return Finding(
        "durable",
        f"{home.kind}: {calls} each of jobs, calls with a key and approvals, sent to three servers and asked for at "
        f"others; {freezes} times one of them stands still for {_STILL:g} s and goes on",
        "nothing runs twice that may not, nothing has succeeded without having run, nothing is told in two ways",
        f"{len(twice)} twice, {len(untrue)} succeeded without effect, {len(unlike)} in two ways, {len(strange)} "
        f"strange {strange[:2]}; {dict(ended)}",
        not (twice or untrue or unlike or strange),
    )


def _has_succeeded(one: Sent) -> bool:
    return _name_end(one) in ("succeeded", "success")


def _name_end(one: Sent) -> str:
    if one.ends:
        return str(one.ends[0]["status"])
    if not one.answers:
        return "none"
    return "outcome_unknown" if b"outcome_unknown" in one.answers[0] else "success"


async def _run(servers: Sequence[Server], calls: Sequence[Sequence[Sent]], freezes: int) -> None:
    chance = random.Random(7)
    still: set[int] = set()

    def find() -> Server:
        return servers[chance.choice([it for it in range(3) if it not in still])]

    clients = Clients(find, lines=3 * _LINES)
    jobs, keyed, paid = calls
    async with asyncio.timeout(_PATIENCE), clients.client, asyncio.TaskGroup() as group:
        for line in range(_LINES):
            group.create_task(_send_jobs(clients, jobs[line::_LINES]))
            group.create_task(_send_twice(clients, keyed[line::_LINES]))
            group.create_task(_pay(clients, paid[line::_LINES]))
        for number in range(freezes):
            await asyncio.sleep(1.0)
            await _stand_still(servers[number % 3], number % 3, still)


async def _stand_still(server: Server, number: int, still: set[int]) -> None:
    """Stop a server, whose clients wait until it goes on; nobody new is sent there."""
    server.process.send_signal(signal.SIGSTOP)
    still.add(number)
    await asyncio.sleep(_STILL)
    server.process.send_signal(signal.SIGCONT)
    still.discard(number)


async def _send_jobs(clients: Clients, jobs: Sequence[Sent]) -> None:
    for one in jobs:
        await clients.send(one, _WORKING, Prefer="respond-async")
    for one in jobs:
        await clients.follow(one)


async def _send_twice(clients: Clients, calls: Sequence[Sent]) -> None:
    for one in calls:
        await clients.send(one, _WORKING)
    for one in calls:
        await clients.send(one, _WORKING)


async def _pay(clients: Clients, bills: Sequence[Sent]) -> None:
    """Ask for approvals, and decide each at two servers at once."""
    for one in bills:
        call = {"name": one.tool, "args": {"mark": one.mark}, "id": one.mark}
        waiting = await clients.ask("POST", "/tool_calls", json=call, headers={"Idempotency-Key": one.mark})
        if waiting.status_code != httpx.codes.ACCEPTED:
            one.strange.append(f"{waiting.status_code} {waiting.text[:200]}")
            continue
        place = waiting.headers["Location"]
        decided = await asyncio.gather(*(clients.ask("POST", place, json={"decision": "approve"}) for _ in range(2)))
        wrong = [it for it in decided if it.status_code not in (httpx.codes.OK, httpx.codes.CONFLICT)]
        one.strange += [f"{it.status_code} {it.text[:200]}" for it in wrong]
        one.location = f"/tool_calls/{waiting.json()['id']}" if "id" in waiting.json() else ""
        answer = await clients.ask("POST", "/tool_calls", json=call, headers={"Idempotency-Key": one.mark})
        one.answers.append(answer.content)
        one.answers.append(
            (await clients.ask("POST", "/tool_calls", json=call, headers={"Idempotency-Key": one.mark})).content
        )

"""Two servers on one database: duplicates, approvals over a restart, and a database that goes away."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator

import httpx
import uvloop

from tests.kit.servers import Server
from tests.trials.durable.clients import PATIENCE, Clients, Sent
from tests.trials.durable.home import Home, homes
from tests.trials.finding import Finding

_DECISION = {"decision": "approve", "args": {"mark": "edited"}, "reason": "Half of it."}


def run_shortly() -> Iterator[Finding]:
    """Try what takes no time, on a small scale."""
    with homes("postgres") as found:
        for home in found:
            yield _duplicates(home, pairs=50)
            home.stop()
            yield _approved_elsewhere(home)


def run() -> Iterator[Finding]:
    """Try all of it."""
    with homes("postgres") as found:
        for home in found:
            yield _duplicates(home, pairs=1000)
            home.stop()
            yield _approved_elsewhere(home)
    with homes("sqlite", "postgres") as found:
        for home in found:
            yield _away(home, seconds=10.0)


def _duplicates(home: Home, pairs: int) -> Finding:
    servers = [home.start(), home.start()]
    sent = [[Sent("add", f"pair {number}") for _ in servers] for number in range(pairs)]
    uvloop.run(_send_pairs(servers, sent))
    effects = home.effects
    once = sum(effects[pair[0].mark] == 1 for pair in sent)
    equal = sum(bool(pair[0].answers) and pair[0].answers == pair[1].answers for pair in sent)
    strange = [one.strange[0] for pair in sent for one in pair if one.strange]
    return Finding(
        "durable",
        f"{home.kind}: {pairs} pairs of calls with one key, each to two servers at once",
        "each runs once, and both answers are equal byte by byte",
        f"{once} ran once, {equal} were answered equally; {len(strange)} strange {strange[:1]}",
        once == pairs == equal,
    )


async def _send_pairs(servers: list[Server], pairs: list[list[Sent]]) -> None:
    clients = [Clients(lambda server=server: server) for server in servers]  # type: ignore[misc]
    waiting = list(pairs)

    async def send_some() -> None:
        while waiting:
            pair = waiting.pop()
            await asyncio.gather(*(client.send(one, 0.01) for client, one in zip(clients, pair, strict=True)))

    await asyncio.gather(*(send_some() for _ in range(16)))
    for one in clients:
        await one.client.aclose()


def _approved_elsewhere(home: Home) -> Finding:
    first = home.start()
    with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        call = {"name": "pay", "args": {"mark": "asked"}, "id": "1"}
        waiting = client.post(f"{first.url}/tool_calls", json=call, headers={"Idempotency-Key": "pay"})
        home.kill(first)
        second, third = home.start(), home.start()
        place = waiting.headers["Location"]
        decided = client.post(f"{second.url}{place}", json=_DECISION)
        again = client.post(f"{third.url}/tool_calls", json=call, headers={"Idempotency-Key": "pay"})
        late = client.post(f"{third.url}{place}", json=_DECISION)
        approval = client.get(f"{third.url}{place}").json()
        (entry,) = client.get(f"{third.url}/tool_calls?name=pay").json()
    kept = [approval[name] for name in ("asked_args", "decided_by", "reason")]
    ran = {mark: count for mark, count in home.effects.items() if mark in ("asked", "edited")}
    statuses = [waiting.status_code, decided.status_code, again.status_code, late.status_code]
    return Finding(
        "durable",
        f"{home.kind}: an approval is asked for, the server killed, and two others decide with other arguments",
        "it runs once, the call has succeeded, the same key has its answer, and both arguments are kept",
        f"{statuses}; ran {ran}; the call has {entry['status']}; kept {kept} and {approval['tool_call']['args']}",
        ran == {"edited": 1}
        and statuses == [202, 200, 200, 409]
        and entry["status"] == "succeeded"
        and again.json()["content"] == "paid edited"
        and kept == [{"mark": "asked"}, "anonymous", "Half of it."]
        and approval["tool_call"]["args"] == {"mark": "edited"},
    )


def _away(home: Home, seconds: float) -> Finding:
    server = home.start()
    return uvloop.run(_watch_while_away(home, server, seconds))


async def _watch_while_away(home: Home, server: Server, seconds: float) -> Finding:
    clients = Clients(lambda: server)
    running = [Sent("add", f"ran meanwhile {number}") for number in range(30)]
    await asyncio.gather(*(clients.send(one, seconds / 2, Prefer="respond-async") for one in running))
    with home.away():
        plain, remembered, slowest = await _ask_for(clients, server, seconds)
    began = time.monotonic()
    after = Sent("add", "after")
    await clients.send(after, 0)
    recovered = time.monotonic() - began
    await asyncio.gather(*(clients.follow(one) for one in running))
    await clients.client.aclose()
    ends = Counter(one.ends[0]["status"] if one.ends else "lost" for one in running)
    once = sum(home.effects[one.mark] == 1 for one in running)
    return Finding(
        "durable",
        f"{home.kind} cannot be used for {seconds:g} s while 30 jobs run and calls come",
        "plain calls: 200; remembered ones: 503 store-unavailable with Retry-After; the jobs that ran have succeeded, "
        "once, and all goes on without a restart",
        f"plain {dict(plain)}, remembered {dict(remembered)}, slowest {slowest:.2f} s; jobs {dict(ends)}, {once} ran "
        f"once; usable {recovered:.2f} s after the database",
        set(plain) == {"200"}
        and set(remembered) == {"503 store-unavailable, Retry-After"}
        and ends == {"succeeded": 30}
        and once == 30
        and bool(after.answers),
        slowest < 5,
    )


async def _ask_for(clients: Clients, server: Server, seconds: float) -> tuple[Counter[str], Counter[str], float]:
    until = time.monotonic() + seconds
    plain, remembered = Counter[str](), Counter[str]()
    slowest = 0.0
    number = 0
    while time.monotonic() < until:
        number += 1
        call = {"name": "echo", "args": {"mark": f"{number}"}, "id": "1"}
        for found, headers in ((plain, {}), (remembered, {"Idempotency-Key": f"away {number}"})):
            began = time.monotonic()
            answer = await clients.client.post(f"{server.url}/tool_calls", json=call, headers=headers)
            found[describe(answer)] += 1
            slowest = max(slowest, time.monotonic() - began)
        await asyncio.sleep(0.02)
    return plain, remembered, slowest


def describe(answer: httpx.Response) -> str:
    """Write an answer's status, its problem and whether it says when to come again."""
    if answer.status_code in (httpx.codes.OK, httpx.codes.ACCEPTED):
        return str(answer.status_code)
    kind = str(json.loads(answer.content).get("type", "")).partition("problem:")[2]
    return f"{answer.status_code} {kind}" + (", Retry-After" if "Retry-After" in answer.headers else "")

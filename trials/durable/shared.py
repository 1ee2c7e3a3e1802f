"""Two servers on one database: duplicates, and approvals over a restart."""

import asyncio
from collections.abc import Iterator

import httpx
import uvloop

from tests.kit.servers import Server
from trials.durable.clients import PATIENCE, Clients, Sent
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

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


def _duplicates(home: Deployment, pairs: int) -> Finding:
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


def _approved_elsewhere(home: Deployment) -> Finding:
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

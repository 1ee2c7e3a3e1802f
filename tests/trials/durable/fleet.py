"""Three servers on one database: how soon each hears what happens at another, and who runs what one of them is sent."""

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import quantiles
from typing import Any

import httpx
import uvloop

from tests.kit.servers import Server
from tests.trials.durable.clients import PATIENCE
from tests.trials.durable.home import homes
from tests.trials.finding import Finding

_TOOLS = "tests/trials/served/fleet.py"
_BACKGROUND = {"Prefer": "respond-async"}
_JOBS, _SECONDS = 30, 0.2
# Milliseconds, and the part of the time that one server takes.
_CANCEL, _HEARD, _PART = 100.0, 50.0, 0.45


def run_shortly() -> Iterator[Finding]:
    """Try it on a small scale."""
    yield from _try(times=10)


def run() -> Iterator[Finding]:
    """Try all of it."""
    yield from _try(times=200)


def _try(times: int) -> Iterator[Finding]:
    with homes("postgres") as found:
        for home in found:
            home.tools = _TOOLS
            alone = uvloop.run(_time_jobs([home.start(SIDECALL_PROCESSES="1")]))
            home.stop()
            # One that has ended is not waited for: it has said so.
            servers = [home.start(SIDECALL_PROCESSES="1") for _ in range(3)]
            uvloop.run(_warm_up(servers))
            yield _judge("cancelled at another", uvloop.run(_cancel(servers, times)), _CANCEL)
            yield _judge("waited for at another, and ended", uvloop.run(_hear(servers, times)), _HEARD)
            yield uvloop.run(_watch(servers, max(1, times // 10)))
            yield _share(alone, uvloop.run(_time_jobs(servers)))


def _judge(what: str, found: Sequence[float], bar: float) -> Finding:
    cuts = quantiles(found, n=100)
    return Finding(
        "fleet",
        f"postgres: {len(found)} calls that one of three servers runs are {what}",
        f"each is; it is answered within {bar:g} ms (p99)",
        f"all; p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms, most {max(found):.1f} ms",
        holds=True,
        in_time=cuts[98] <= bar,
    )


def _share(alone: float, together: float) -> Finding:
    return Finding(
        "fleet",
        f"postgres: {_JOBS} jobs that keep a process busy for {_SECONDS:g} s each are sent to one server, which has "
        "one process for them; then to one of three such",
        f"all succeed, in {_PART:g} of the time",
        f"{alone:.2f} s alone, {together:.2f} s with the others: {together / alone:.2f}",
        holds=True,
        in_time=together <= _PART * alone,
    )


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(trust_env=False, timeout=PATIENCE)


async def _send(client: httpx.AsyncClient, server: Server, name: str, **args: Any) -> str:
    """Send a call that nobody waits for, and return its place."""
    call = {"name": name, "args": args, "id": "1"}
    answer = await client.post(f"{server.url}/tool_calls", json=call, headers=_BACKGROUND)
    answer.raise_for_status()
    return answer.headers["Location"]


async def _wait(client: httpx.AsyncClient, server: Server, place: str) -> dict[str, Any]:
    while True:
        entry = (await client.get(f"{server.url}{place}", headers={"Prefer": "wait=30"})).raise_for_status().json()
        if entry["ended_at"] is not None:
            return dict(entry)


async def _warm_up(servers: Sequence[Server]) -> None:
    """Have each server load what it needs, and know the others."""
    await _cancel(servers, len(servers))
    await _hear(servers, len(servers))
    await asyncio.sleep(3)


async def _cancel(servers: Sequence[Server], times: int) -> list[float]:
    """Cancel calls at the server after the one that was sent them; return how long each took, in ms."""
    found = []
    async with _client() as client:
        for number in range(times):
            place = await _send(client, servers[number % 3], "hold", seconds=60.0)
            await asyncio.sleep(0.02)
            began = time.perf_counter()
            answer = await client.post(f"{servers[(number + 1) % 3].url}{place}/cancel")
            found.append((time.perf_counter() - began) * 1000)
            assert answer.json()["status"] == "cancelled", answer.text
    return found


async def _hear(servers: Sequence[Server], times: int) -> list[float]:
    """Wait for calls at the server after the one that was sent them; return how late each end was heard, in ms."""
    found = []
    async with _client() as client:
        for number in range(times):
            place = await _send(client, servers[number % 3], "hold", seconds=0.1)
            entry = await _wait(client, servers[(number + 1) % 3], place)
            found.append((time.time() - datetime.fromisoformat(entry["ended_at"]).timestamp()) * 1000)
            assert entry["status"] == "succeeded", entry
    return found


async def _watch(servers: Sequence[Server], calls: int, most: int = 200) -> Finding:
    """Watch calls at all servers."""
    async with _client() as client:
        heard = []
        for number in range(calls):
            place = await _send(client, servers[number % 3], "count", most=most)
            heard += await asyncio.gather(*(_read(client, server, place) for server in servers))
    whole = sum(numbers == list(range(1, most + 1)) for numbers in heard)
    return Finding(
        "fleet",
        f"postgres: {calls} calls whose tool says {most} things are watched at each of three servers",
        "everybody reads each thing once, in its order",
        f"{whole} of {len(heard)} watchers did",
        holds=whole == len(heard),
    )


async def _read(client: httpx.AsyncClient, server: Server, place: str) -> list[int]:
    """Return the numbers that a tool has said."""
    numbers, kind = [], ""
    async with client.stream("GET", f"{server.url}{place}/events") as answer:
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif kind == "progress" and line.startswith("data: "):
                numbers.append(json.loads(line.removeprefix("data: "))["done"])
            elif kind == "message":
                break
    return numbers


async def _time_jobs(servers: Sequence[Server]) -> float:
    """Send jobs to the first server, and return how many seconds pass until all have succeeded."""
    async with _client() as client:
        await _wait(client, servers[0], await _send(client, servers[0], "work", seconds=0.0))
        began = time.perf_counter()
        places = [await _send(client, servers[0], "work", seconds=_SECONDS) for _ in range(_JOBS)]
        ended = await asyncio.gather(*(_wait(client, servers[0], place) for place in places))
    assert {entry["status"] for entry in ended} == {"succeeded"}
    return time.perf_counter() - began

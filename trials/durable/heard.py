"""How soon an event of one server or worker reaches another."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from statistics import quantiles
from typing import Any, TypeVar
from uuid import uuid4

import httpx
import uvloop

from trials.durable.clients import PATIENCE
from trials.finding import Finding

TOOLS = "trials/served/fleet.py"
_BACKGROUND = {"Prefer": "respond-async"}
# Milliseconds.
_CANCEL, _HEARD = 100.0, 50.0
# Connects to each server, in a list.
Connect = Callable[[], Awaitable[list[httpx.AsyncClient]]]
_Found = TypeVar("_Found")


def connect(url: str) -> httpx.AsyncClient:
    """Return what asks a server on one connection, which stays the same."""
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None)
    return httpx.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE, limits=limits)


def try_all(row: str, where: str, connect_all: Connect, times: int) -> Iterator[Finding]:
    """Try all that is heard elsewhere; `where` says what these servers are."""
    for what, trial, bar in (
        ("cancelled at another", _cancel, _CANCEL),
        ("waited for at another, and ended", _hear, _HEARD),
        ("waited for at one, and approved at another", _approve, _HEARD),
    ):
        yield _judge(row, f"{where}: {times} calls that one runs are {what}", _run(connect_all, trial, times), bar)
    yield _run(connect_all, lambda doors, calls: _watch(row, where, doors, calls), max(1, times // 10))


def warm_up(connect_all: Connect, count: int) -> None:
    """Have each server load what it needs, and know the others."""
    for trial in (_cancel, _hear, _approve):
        _run(connect_all, trial, 2 * count)
    time.sleep(3)


def _run(
    connect_all: Connect, trial: Callable[[list[httpx.AsyncClient], int], Awaitable[_Found]], times: int
) -> _Found:
    async def run() -> _Found:
        doors = await connect_all()
        try:
            return await trial(doors, times)
        finally:
            for door in doors:
                await door.aclose()

    return uvloop.run(run())


def _judge(row: str, trial: str, found: Sequence[float], bar: float) -> Finding:
    cuts = quantiles(found, n=100)
    return Finding(
        row,
        trial,
        f"each is; it is answered within {bar:g} ms (p99)",
        f"all; p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms, most {max(found):.1f} ms",
        holds=True,
        in_time=cuts[98] <= bar,
    )


async def send(door: httpx.AsyncClient, name: str, **args: Any) -> str:
    """Send a call without waiting for it, and return its address."""
    call = {"name": name, "args": args, "id": uuid4().hex}
    answer = await door.post("/tool_calls", json=call, headers=_BACKGROUND)
    return str(answer.raise_for_status().headers["Location"])


async def wait(door: httpx.AsyncClient, place: str) -> dict[str, Any]:
    """Wait for the end of a call, and return it."""
    while True:
        entry = (await door.get(place, headers={"Prefer": "wait=30"})).raise_for_status().json()
        if entry["ended_at"] is not None:
            return dict(entry)


async def _cancel(doors: Sequence[httpx.AsyncClient], times: int) -> list[float]:
    """Cancel calls at the server after the one that was sent them; return how long each took, in ms."""
    found = []
    for number in range(times):
        place = await send(doors[number % len(doors)], "hold", seconds=60.0)
        await asyncio.sleep(0.02)
        began = time.perf_counter()
        other = doors[(number + 1) % len(doors)]
        answer = (await other.post(f"{place}/cancel")).json()
        if answer["ended_at"] is None:  # After a second it is answered all the same.
            answer = await wait(other, place)
        found.append((time.perf_counter() - began) * 1000)
        assert answer["status"] == "cancelled", answer
    return found


async def _hear(doors: Sequence[httpx.AsyncClient], times: int) -> list[float]:
    """Wait for calls at the server after the one that was sent them; return how late each end was heard, in ms."""
    found = []
    for number in range(times):
        place = await send(doors[number % len(doors)], "hold", seconds=0.1)
        found.append(await _wait_timed(doors[(number + 1) % len(doors)], place))
    return found


async def _wait_timed(door: httpx.AsyncClient, place: str) -> float:
    entry = await wait(door, place)
    heard = (time.time() - datetime.fromisoformat(entry["ended_at"]).timestamp()) * 1000
    assert entry["status"] == "succeeded", entry
    return heard


async def _approve(doors: Sequence[httpx.AsyncClient], times: int) -> list[float]:
    """Approve calls at the server after the one where they are waited for; return how late their ends were heard."""
    found = []
    for number in range(times):
        door, other = doors[number % len(doors)], doors[(number + 1) % len(doors)]
        place = await send(door, "ask", number=number)
        while (approval := (await other.get(place)).json()["approval_id"]) is None:  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)
        waiting = asyncio.ensure_future(_wait_timed(door, place))
        await asyncio.sleep(0.02)
        (await other.post(f"/approvals/{approval}", json={"decision": "approve"})).raise_for_status()
        found.append(await waiting)
    return found


async def _watch(row: str, where: str, doors: Sequence[httpx.AsyncClient], calls: int, most: int = 200) -> Finding:
    """Watch calls at all servers; what a tool says is read before it has ended."""
    heard, live = list[list[int]](), 0
    for number in range(calls):
        place = await send(doors[number % len(doors)], "count", most=most)
        for numbers, during in await asyncio.gather(*(_read(door, place, most) for door in doors)):
            heard.append(numbers)
            live += during
    whole = sum(numbers == list(range(1, most + 1)) for numbers in heard)
    return Finding(
        row,
        f"{where}: {calls} calls whose tool says {most} things are watched at each",
        "everybody reads each thing once, in its order, and half of them before the tool has said the last",
        f"{whole} of {len(heard)} watchers did, {live} of them while it ran",
        holds=whole == len(heard),
        in_time=live == len(heard),
    )


async def _read(door: httpx.AsyncClient, place: str, most: int) -> tuple[list[int], bool]:
    """Return the numbers that a tool has sent, and whether half of them came before it had sent the last."""
    numbers, kind, halfway, said_last = list[int](), "", 0.0, 0.0
    async with door.stream("GET", f"{place}/events") as answer:
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif kind == "progress" and line.startswith("data: "):
                said = json.loads(line.removeprefix("data: "))
                numbers.append(said["done"])
                halfway = halfway or (time.time() if said["done"] >= most / 2 else 0.0)
    entry = (await door.get(place)).json()
    said_last = datetime.fromisoformat(entry["ended_at"]).timestamp()
    return numbers, 0.0 < halfway < said_last

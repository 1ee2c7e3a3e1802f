"""Two workers with the settings that ship: one is killed, or the process that writes, and each hears of the other."""

import asyncio
import os
import random
import re
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import uvloop

from bench.environments import ROOT
from tests.kit.lines import Line, call
from tests.kit.processes import find_writers, list_descendants
from tests.kit.servers import Server, end, start
from trials.durable import heard
from trials.durable.clients import ENDED, PATIENCE
from trials.finding import Finding
from trials.serving import is_alive

_TOOLS = ("trials/served/durable.py", "trials/served/kept.py", heard.TOOLS)
_SERVING = re.compile(r"Started server process \[(\d+)\]")
# What tells that a call has succeeded, in its entry or at the beginning of its answer.
_SUCCEEDED = ("succeeded", "added", "booked", "paid")
_LINES = 25
# Where files are in memory, on Linux; and on a disk.
_PLACES = (("in memory", "/dev/shm"), ("on a disk", None))
_TICKS = os.sysconf("SC_CLK_TCK")
# Of plain calls, in each round with one worker and with two, and as many clients as there are connections.
_ROUNDS, _CALLS, _CLIENTS = 5, 8000, 16


def run_shortly() -> Iterator[Finding]:
    """Try it on a small scale, with calls of all kinds while each is killed once."""
    with _serving(2) as workers:
        counts: Mapping[_Trial, int] = {_send_keyed: 60, _decide: 20, _run_jobs: 20}
        yield uvloop.run(_try_some(workers, "60 calls with a key, 20 approvals and 20 jobs at once", counts))
    yield from _hear_each_other(3, _PLACES[:1])


def run() -> Iterator[Finding]:
    """Try all of it."""
    yield from _under_kills(calls=1000, others=200)
    yield from _hear_each_other(times=200)
    yield _share_load()


@dataclass
class _Workers:
    """A server, and what its tools have written."""

    server: Server
    effects_file: Path

    @property
    def effects(self) -> Counter[str]:
        """How often each mark was written."""
        return Counter(self.effects_file.read_text().splitlines()) if self.effects_file.exists() else Counter()

    async def kill(self, which: int) -> None:
        """Kill the worker that has served for longest, or one after it, and wait until another serves in its place."""
        started = [int(number) for number in _SERVING.findall(self.server.log)]
        os.kill([pid for pid in started if is_alive(pid)][which], signal.SIGKILL)
        await asyncio.to_thread(
            self.server.wait_until, lambda log: log.count("Application startup complete") > len(started)
        )

    async def kill_writer(self) -> None:
        """Kill the process that writes the ledger for both, and wait until another does."""
        [killed] = find_writers(self.server.process.pid)
        os.kill(killed, signal.SIGKILL)
        while find_writers(self.server.process.pid) in ([], [killed]):  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.05)


@contextmanager
def _serving(workers: int, place: str | None = None) -> Iterator[_Workers]:
    with tempfile.TemporaryDirectory(dir=place) as made:
        folder, options = Path(made), [word for tools in _TOOLS for word in ("--tools", str(ROOT / tools))]
        # No store is configured, as by default.
        wanted = {"SIDECALL_STORE": "", "SIDECALL_TRIAL_EFFECTS": str(folder / "effects")}
        server = start(folder, *options, "--workers", str(workers), environment=wanted, cwd=folder)
        try:
            yield _Workers(server, folder / "effects")
        finally:
            end(server.process)


@dataclass
class _Clients:
    """Clients with a connection for each request, so that any worker may get it.

    `refused` counts what was sent again since nothing could be written just then, which is not `strange`.
    """

    url: str
    client: httpx.AsyncClient
    unknown: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    refused: int = 0

    async def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Ask until there is an answer of a worker that lives and could be reached."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    response = await self.client.request(method, f"{self.url}{path}", **how)
                except httpx.TransportError:  # It was killed.
                    await asyncio.sleep(0.05)
                    continue
                if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
                    self.refused += 1
                    await asyncio.sleep(0.1)
                    continue
                if response.status_code == httpx.codes.NOT_FOUND:
                    self.unknown.append(path)
                elif response.status_code not in (httpx.codes.OK, httpx.codes.ACCEPTED, httpx.codes.CONFLICT):
                    self.strange.append(f"{response.status_code} {response.text[:200]}")
                return response

    async def send(self, tool: str, mark: str, **headers: str) -> httpx.Response:
        """Send a call of a tool with a mark, under an id of its own."""
        said = {"name": tool, "args": {"mark": mark}, "id": f"call {mark}"}
        if tool != "pay":
            said["args"] = {"mark": mark, "seconds": 0.05}
        return await self.ask("POST", "/tool_calls", json=said, headers=headers)

    async def follow(self, place: str) -> str:
        """Ask for a call until it has ended, and return how."""
        async with asyncio.timeout(PATIENCE):
            while True:
                response = await self.ask("GET", place, headers={"Prefer": "wait=2"})
                if response.status_code != httpx.codes.OK or response.json()["status"] in ENDED:
                    return str(response.json()["status"])


def _under_kills(calls: int, others: int) -> Iterator[Finding]:
    with _serving(2) as workers:
        for what, count, trial in (
            (f"{calls:,} calls with a key, each sent twice", calls, _send_keyed),
            (f"{others:,} approvals, each decided on another connection", others, _decide),
            (f"{others:,} jobs, each asked for on other connections until it has ended", others, _run_jobs),
        ):
            yield uvloop.run(_try_some(workers, what, {trial: count}))


@dataclass(frozen=True, slots=True)
class _Report:
    """How one call ended, and whether all answers agree."""

    mark: str
    end: str
    is_single: bool = True


_Trial = Callable[[_Clients, int], Awaitable[_Report]]


async def _try_some(workers: _Workers, what: str, counts: Mapping[_Trial, int]) -> Finding:
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE, limits=limits) as client:
        clients = _Clients(workers.server.url, client)
        waiting: list[tuple[_Trial, int]] = []
        told: list[_Report] = []

        async def send_some() -> None:
            while waiting:
                trial, number = waiting.pop()
                told.append(await trial(clients, number))
                await asyncio.sleep(random.uniform(0, 0.02))

        kills: Sequence[Callable[[], Awaitable[None]]] = (
            partial(workers.kill, 1),
            workers.kill_writer,
            partial(workers.kill, 0),
        )
        for first, kill in enumerate(kills):
            waiting += [
                (trial, number) for trial, count in counts.items() for number in range(first, count, len(kills))
            ]
            random.shuffle(waiting)
            enough = len(waiting) // 2
            sending = asyncio.gather(*(send_some() for _ in range(_LINES)))
            while len(waiting) > enough:  # noqa: ASYNC110  nobody tells
                await asyncio.sleep(0.002)
            await kill()
            await sending
    return _judge(what, told, clients, workers.effects)


def _judge(what: str, told: Sequence[_Report], clients: _Clients, effects: Counter[str]) -> Finding:
    ends = Counter(one.end for one in told)
    twice = sum(effects[one.mark] > 1 for one in told)
    without = sum(effects[one.mark] != 1 for one in told if one.end in _SUCCEEDED)
    unlike = sum(not one.is_single for one in told)
    others = {end: number for end, number in ends.items() if end not in (*_SUCCEEDED, "outcome_unknown")}
    return Finding(
        "workers",
        f"two workers, no setting: {what}; each worker, and the process that writes, is killed once meanwhile",
        "each runs once, or is outcome_unknown and ran once at most; 0 answers of 404, 0 in two ways",
        f"{dict(ends)}; {twice} ran twice, {without} succeeded without having run once; {len(clients.unknown)} times "
        f"404, {unlike} in two ways; {clients.refused} sent again after 503; "
        f"{len(clients.strange)} strange {clients.strange[:1]}",
        not (twice or without or unlike or others or clients.unknown or clients.strange),
    )


async def _send_keyed(clients: _Clients, number: int) -> _Report:
    tool, mark = ("book", f"book {number}") if number % 2 else ("add", f"keyed {number}")
    headers = {} if number % 2 else {"Idempotency-Key": mark}
    first, second = [await clients.send(tool, mark, **headers) for _ in range(2)]
    return _Report(mark, _read_end(first), is_single=first.content == second.content)


def _read_end(response: httpx.Response) -> str:
    """Read from an answer how its call ended."""
    said = response.json()
    return str(said.get("response_metadata", {}).get("error", {}).get("kind") or str(said.get("content")).split()[0])


async def _decide(clients: _Clients, number: int) -> _Report:
    mark = f"pay {number}"
    waiting = await clients.send("pay", mark, **{"Idempotency-Key": mark})
    if waiting.status_code == httpx.codes.OK:  # Its worker was killed before it had asked a person.
        return _Report(mark, _read_end(waiting))
    place = waiting.headers["Location"]
    await clients.ask("POST", place, json={"decision": "approve"})
    await clients.ask("GET", place)
    async with asyncio.timeout(PATIENCE):
        while True:  # The server that carried out the decision may have been killed a moment ago.
            answered = await clients.send("pay", mark, **{"Idempotency-Key": mark})
            if answered.status_code != httpx.codes.ACCEPTED:
                return _Report(mark, _read_end(answered))
            await asyncio.sleep(0.1)


async def _run_jobs(clients: _Clients, number: int) -> _Report:
    mark = f"job {number}"
    accepted = await clients.send("add", mark, Prefer="respond-async", **{"Idempotency-Key": mark})
    return _Report(mark, await clients.follow(accepted.headers["Location"]))


def _hear_each_other(times: int, places: Sequence[tuple[str, str | None]] = _PLACES) -> Iterator[Finding]:
    """Try it without waiting for a disk, as for PostgreSQL, and with one, which may have other work."""
    for where, place in places:
        if place is None or os.path.isdir(place):
            with _serving(2, place) as workers:
                url = workers.server.url
                heard.warm_up(lambda url=url: _connect_both(url), 2)  # type: ignore[misc]
                yield from heard.try_all(
                    "workers",
                    f"two workers, their file {where}",
                    lambda url=url: _connect_both(url),  # type: ignore[misc]
                    times,
                )
    yield _time_disk(times)


def _time_disk(times: int) -> Finding:
    """Measure one write: each cancel has two, and each end one."""
    found = []
    with tempfile.TemporaryFile() as file:
        for _ in range(max(times, 2)):
            file.write(bytes(20_000))
            file.flush()
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            found.append((time.perf_counter() - began) * 1000)
            time.sleep(0.02)
    cuts = statistics.quantiles(found, n=100)
    measured = f"p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms"
    return Finding("workers", f"{times} writes to the same disk, by no server", "as the disk is", measured, holds=True)


async def _connect_both(url: str) -> list[httpx.AsyncClient]:
    """Connect until each of two workers has a connection."""
    found = dict[str, httpx.AsyncClient]()
    while len(found) < 2:
        door = heard.connect(url)
        which = (await door.post("/tool_calls", json={"name": "where", "args": {}})).json()["content"]
        if which in found:
            await door.aclose()
        else:
            found[which] = door
    return list(found.values())


def _share_load() -> Finding:
    """Compare what a plain call costs of the processor, all processes of a server together."""
    costs: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(_ROUNDS):
        for count, found in costs.items():
            with _serving(count) as workers:
                found.append(uvloop.run(_measure_cost(workers.server)))
    one, two = (statistics.median(found) * 1e6 for found in costs.values())
    return Finding(
        "workers",
        f"{_CALLS:,} plain calls by {_CLIENTS} clients, with one worker and with two, {_ROUNDS} rounds in turns",
        "two answer at least 1.8 times as many in the same time where there are cores, by the processor time of a call",
        f"{one:.0f} µs a call with one, {two:.0f} µs with two: {2 * one / two:.2f} times as many",
        holds=True,
        in_time=2 * one / two >= 1.8,
    )


async def _measure_cost(server: Server) -> float:
    request = call("echo", mark="x" * 20)

    async def send(count: int) -> None:
        line = Line(server.port)
        for _ in range(count):
            await line.ask(request)
        line.close()

    await asyncio.gather(*(send(50) for _ in range(_CLIENTS)))
    before = _read_seconds(server)
    await asyncio.gather(*(send(_CALLS // _CLIENTS) for _ in range(_CLIENTS)))
    return (_read_seconds(server) - before) / _CALLS


def _read_seconds(server: Server) -> float:
    """Return how much of the processor a server and all that it has started have taken, in seconds."""
    pids = [server.process.pid, *list_descendants(server.process.pid)]
    fields = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(of[11]) + int(of[12]) for of in fields) / _TICKS

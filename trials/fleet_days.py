"""A fleet on bad days: its bus, workers and servers go away, stand still, are replaced or have too much to do."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import httpx

from tests.kit.fleets import Fleet, call, fleet_of, is_available, wait_for
from tests.kit.servers import Server
from tests.kit.waiting import PATIENCE
from trials.finding import Finding

_TOOLS = '''
import asyncio
import os
import signal
import time

from sidecall import tool


def _note(file: str) -> int:
    with open(file, "a") as said:
        said.write(f"{os.getpid()}\\n")
    with open(file) as said:
        return len(said.readlines())


@tool(queue="w", timeout=60)
async def takes(file: str, seconds: float) -> str:
    """Take a while."""
    _note(file)
    await asyncio.sleep(seconds)
    return "done"


@tool(queue="w")
async def echo(text: str) -> str:
    """Return a text."""
    return text


@tool(queue="w", timeout=60)
async def blocks(file: str, seconds: float) -> str:
    """Hold up the event loop."""
    _note(file)
    time.sleep(seconds)
    return "done"


@tool(queue="poison", annotations={"idempotent": True})
async def kills(file: str) -> str:
    """End the worker."""
    _note(file)
    os.kill(os.getpid(), signal.SIGKILL)
    return "unreachable"


@tool(queue="frozen", timeout=60, annotations={"idempotent": True})
async def freezes(file: str) -> str:
    """Say which start this is; the first takes a while."""
    start = _note(file)
    await asyncio.sleep(1.0 if start == 1 else 0.0)
    return f"start {start}"


@tool(queue="nobody", timeout=60)
async def unserved(text: str) -> str:
    """Run on a worker that is not there."""
    return text
'''
_MS = 1000.0
# For connections that are opened before anything is asked.
_ROOM: dict[str, Any] = {
    "SIDECALL_QUEUE_TIMEOUT": "120",
    "SIDECALL_MAX_CONNECTIONS": "20000",
    "SIDECALL_MAX_CONCURRENCY": "20000",
    "SIDECALL_HEADER_TIMEOUT": "120",
}


def run() -> Iterator[Finding]:
    """Try them one after the other, in two minutes."""
    with fleet_of(_TOOLS) as fleet:
        server = fleet.serve(SIDECALL_QUEUE_TIMEOUT="30")
        fleet.work("w", "--slots", "8")
        wait_for(lambda: is_available(server, "echo"))
        yield _lose_bus(fleet, server)
        yield _hold_up(fleet, server)
        yield _poison(fleet, server)
        yield _freeze(fleet, server)
        yield _wait_in_vain(fleet)
        yield _wait_in_masses(fleet)
        yield _restart_all(fleet)


def _starts(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().splitlines()] if file.exists() else []


def _timed(work: Callable[[], httpx.Response]) -> tuple[httpx.Response, float]:
    began = time.monotonic()
    return work(), time.monotonic() - began


def _lose_bus(fleet: Fleet, server: Server) -> Finding:
    files = [fleet.folder / f"away-{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        running = [threads.submit(call, server, "takes", file=str(it), seconds=5) for it in files]
        wait_for(lambda: all(map(_starts, files)))
        fleet.bus.stop()
        wait_for(lambda: server.metrics()["sidecall_fleet_up"] == 0)
        refusals = [_timed(lambda: call(server, "echo", text="away")) for _ in range(9)]
        statuses, took = {it.status_code for it, _ in refusals}, sorted(took for _, took in refusals)[4]
        time.sleep(10)
        fleet.bus.start()
        back = time.monotonic()
        wait_for(lambda: call(server, "echo", text="back").status_code == 200)
        works = time.monotonic() - back
        answered = sum(it.result().json()["content"] == "done" for it in running)
        late = time.monotonic() - back
    once = all(len(_starts(it)) == 1 for it in files)
    return Finding(
        "fleet",
        "the bus is killed, and away for 10 s, while eight calls run",
        "all are answered, none runs twice; others get 503 within 50 ms; works again within 3 s",
        f"{answered} answered {late:.1f} s after it is back; {statuses} after {took * _MS:.0f} ms; "
        f"works after {works:.1f} s",
        holds=answered == len(files) and once and statuses == {503},
        in_time=took <= 0.05 and max(works, late) <= 3,
    )


def _hold_up(fleet: Fleet, server: Server) -> Finding:
    file = fleet.folder / "blocked"
    said = call(server, "blocks", file=str(file), seconds=20).json()["content"]
    return Finding(
        "fleet",
        "a tool blocks the event loop of its worker for 20 s",
        "one start, and its answer",
        f"{len(_starts(file))} start, {said}",
        holds=len(_starts(file)) == 1 and said == "done",
    )


def _poison(fleet: Fleet, server: Server) -> Finding:
    for _ in range(4):
        fleet.work("poison")
    wait_for(lambda: is_available(server, "kills"))
    file = fleet.folder / "poison"
    answer, took = _timed(lambda: call(server, "kills", file=str(file)))
    kind, starts = answer.json()["response_metadata"]["error"]["kind"], len(_starts(file))
    others = call(server, "echo", text="unharmed").status_code
    return Finding(
        "fleet",
        "a call kills each of its workers",
        "three starts at most, an answer that says so within 10 s, others unharmed",
        f"{starts} starts, {kind} after {took:.1f} s, others {others}",
        holds=starts <= 3 and kind == "poison" and others == 200,
        in_time=took <= 10,
    )


def _freeze(fleet: Fleet, server: Server) -> Finding:
    for _ in range(2):
        fleet.work("frozen")
    wait_for(lambda: is_available(server, "freezes"))
    file = fleet.folder / "frozen"
    with ThreadPoolExecutor(1) as threads:
        asked: Future[httpx.Response] = threads.submit(call, server, "freezes", file=str(file))
        wait_for(lambda: bool(_starts(file)))
        os.kill(_starts(file)[0], signal.SIGSTOP)
        said = asked.result().json()["content"]
        time.sleep(10)
        os.kill(_starts(file)[0], signal.SIGCONT)
        time.sleep(2)
    again = call(server, "freezes", file=str(file)).json()["content"]
    return Finding(
        "fleet",
        "a worker stands still for more than 10 s, and comes back with its answer",
        "that of another counts, and the next call gets its own",
        f"{said}, {again}",
        holds=(said, again) == ("start 2", "start 3"),
    )


def _wait_in_vain(fleet: Fleet) -> Finding:
    server = fleet.serve(SIDECALL_QUEUE_TIMEOUT="2")
    wait_for(lambda: server.metrics()["sidecall_fleet_up"] == 1)
    answer, took = _timed(lambda: call(server, "unserved", text="x"))
    server.stop()
    return Finding(
        "fleet",
        "a call for a queue that has no worker, whose timeout is 2 s",
        "503 no-worker within 2.2 s",
        f"{answer.status_code} after {took:.2f} s",
        holds=answer.status_code == 503 and answer.json()["type"].endswith("no-worker"),
        in_time=took <= 2.2,
    )


def _wait_in_masses(fleet: Fleet, count: int = 10_000) -> Finding:
    server = fleet.serve(**_ROOM)
    wait_for(lambda: server.metrics()["sidecall_fleet_up"] == 1)
    taken, waited, statuses = asyncio.run(_ask_in_masses(server, count))
    each = taken * 1e3 / count
    server.stop()
    return Finding(
        "fleet",
        f"{count:,} calls wait for a worker, each on a connection of its own",
        "20 kB for each at most beside its connection; all are answered when the server ends",
        f"{waited:,} waited, {each:.1f} kB each; {dict(statuses)}",
        holds=waited == count and statuses.total() == count,
        in_time=each <= 20,
    )


async def _ask_in_masses(server: Server, count: int) -> tuple[float, int, Counter[int]]:
    """Return the memory that so many calls take, how many of them wait, and what they are answered."""
    body = b'{"name": "unserved", "args": {"text": "x"}, "id": "1"}'
    head = b"POST /tool_calls HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\n"
    request = head + b"content-length: %d\r\n\r\n" % len(body) + body
    statuses: Counter[int] = Counter()
    gate = asyncio.Semaphore(200)

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with gate:
            return await asyncio.open_connection("127.0.0.1", server.port)

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(request)
        await writer.drain()
        line = await reader.readline()
        statuses[int(line.split()[1]) if line else 0] += 1
        writer.close()

    connected = await asyncio.gather(*(connect() for _ in range(count)))
    before = server.resident_mb(alone=True)
    asked = [asyncio.create_task(ask(*it)) for it in connected]
    waited = 0
    for _ in range(300):
        await asyncio.sleep(0.1)
        waited = int(server.metrics().get('sidecall_fleet_waiting{queue="nobody"}', 0))
        if waited == count or statuses.total():
            break
    taken = server.resident_mb(alone=True) - before
    server.terminate()
    await _gather(asked)
    return taken, waited, statuses


async def _gather(asked: list["asyncio.Task[None]"]) -> None:
    done: Awaitable[list[BaseException | None]] = asyncio.gather(*asked, return_exceptions=True)
    await done


def _restart_all(fleet: Fleet) -> Finding:
    servers = [fleet.serve(SIDECALL_QUEUE_TIMEOUT="30") for _ in range(2)]
    workers = [fleet.work("w", "--slots", "8") for _ in range(2)]
    for server in servers:
        wait_for(lambda server=server: is_available(server, "echo"))  # type: ignore[misc]
    told: Counter[str] = Counter()
    stop = Event()
    with ThreadPoolExecutor(8) as threads:
        clients = [threads.submit(_ask_and_retry, servers, number, told, stop) for number in range(8)]
        for _ in range(2):
            for number in range(2):
                fresh = fleet.serve(SIDECALL_QUEUE_TIMEOUT="30")
                wait_for(lambda fresh=fresh: is_available(fresh, "echo"))  # type: ignore[misc]
                old, servers[number] = servers[number], fresh
                old.stop()
                newer = fleet.work("w", "--slots", "8")
                workers[number].stop()
                workers[number] = newer
        stop.set()
        for client in clients:
            client.result()
    return Finding(
        "fleet",
        "two servers and two workers are replaced one after the other, twice, under eight clients that retry",
        "no call fails",
        str(dict(told)),
        holds=told["failed"] == 0 and told["answered"] > 0,
    )


def _ask_and_retry(servers: list[Server], number: int, told: Counter[str], stop: Event) -> None:
    while not stop.is_set():
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            try:
                answer = call(servers[number % 2], "echo", text="on")
            except httpx.HTTPError:
                told["retried"] += 1
                number += 1
                continue
            if answer.status_code == 503:
                told["retried"] += 1
                number += 1
                time.sleep(0.05)
                continue
            told["answered" if answer.json()["content"] == "on" else "failed"] += 1
            break
        else:
            told["failed"] += 1

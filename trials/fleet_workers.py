"""Workers and servers of a fleet are killed under load, and calls are cancelled at other servers."""

import json
import math
import random
import signal
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from uuid import uuid4

import httpx

from tests.kit.fleets import Fleet, call, fleet_of, is_available, wait_for
from tests.kit.postgres import find_programs
from tests.kit.postgres import running as running_postgres
from tests.kit.servers import CLIENT, Server
from tests.kit.waiting import PATIENCE
from trials.finding import Finding

TOOLS = '''
import asyncio
import time

from sidecall import ToolContext, tool


@tool(queue="w", timeout=60)
async def tells(context: ToolContext, count: int) -> str:
    """Say many times what time it is."""
    for number in range(count):
        context.report_progress(number + 1, count, str(time.time()))
        await asyncio.sleep(0.02)
    return "done"


async def _work(file: str, seconds: float) -> str:
    _note(file, "begun")
    try:
        await asyncio.sleep(seconds)
    except BaseException:
        _note(file, "ended")
        raise
    return "done"


def _note(file: str, what: str) -> None:
    with open(file, "a") as said:
        said.write(f"{what} {time.time()}\\n")


@tool(queue="w", timeout=60)
async def once(file: str, seconds: float) -> str:
    """Take a while."""
    return await _work(file, seconds)


@tool(queue="w", timeout=60, annotations={"idempotent": True})
async def again(file: str, seconds: float) -> str:
    """Take a while."""
    return await _work(file, seconds)
'''
_LATER = {"prefer": "respond-async"}
# Seconds of a call, clients at once, and seconds between two deaths.
_SECONDS, _CLIENTS, _PAUSE = 0.2, 12, 1.0
# What was promised, in seconds.
_ADDED, _GOES_ON, _SEEN, _ANSWERED = 3.5, 3.5, 0.05, 0.1
# Of the unknown outcomes: a worker notes that a tool begins, and may end before the tool's first line.
_UNBEGUN = 0.02


def run(kills: int = 100) -> Iterator[Finding]:
    """Kill many workers, in two minutes."""
    with fleet_of(TOOLS) as fleet:
        yield _kill_workers(fleet, kills)


def run_on_servers(ends: int = 20, cancels: int = 200) -> Iterator[Finding]:
    """Kill servers, and cancel calls at others, in four minutes; without PostgreSQL nothing is tried."""
    programs = find_programs()
    if programs is None:
        return
    with running_postgres(programs) as cluster, fleet_of(TOOLS) as fleet:
        store = cluster.address(cluster.make_database())
        yield _kill_servers(fleet, store, ends)
        yield from _cancel_elsewhere(fleet, store, cancels)
        yield _watch_elsewhere(fleet, store)


def read_times(file: Path, what: str) -> list[float]:
    """Return when a call of these tools has begun or ended, each time."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [float(line.split()[1]) for line in lines if line.startswith(what)]


@dataclass
class _Outcome:
    """What became of the calls of one tool."""

    kinds: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    unbegun: int = 0
    longest: float = 0.0


def _kill_workers(fleet: Fleet, kills: int) -> Finding:
    server = fleet.serve(SIDECALL_QUEUE_TIMEOUT="60")
    workers = [fleet.work("w", "--slots", "6") for _ in range(3)]
    wait_for(lambda: is_available(server, "once"))
    outcomes, stop = {"once": _Outcome(), "again": _Outcome()}, Event()
    with ThreadPoolExecutor(_CLIENTS) as threads:
        clients = [threads.submit(_ask_on, fleet, server, outcomes, stop) for _ in range(_CLIENTS)]
        for _ in range(kills):
            time.sleep(_PAUSE)
            doomed = workers.pop(random.randrange(len(workers)))
            doomed.process.send_signal(signal.SIGKILL)
            workers.append(fleet.work("w", "--slots", "6"))
        stop.set()
        for client in clients:
            client.result()
    kinds = {name: dict(it.kinds) for name, it in outcomes.items()}
    wrong = sum(it.wrong for it in outcomes.values())
    longest, unbegun = outcomes["again"].longest, outcomes["once"].unbegun
    unknown = outcomes["once"].kinds["outcome_unknown"]
    return Finding(
        "fleet",
        f"{kills} workers killed under load",
        f"nothing lost, nothing run twice that must not be; of the unknown outcomes at most {_UNBEGUN:.0%} had not "
        f"reached the tool's first line; at most {_ADDED} s more for each death",
        f"{kinds}; {wrong} lost, or run twice; {unbegun} of {unknown} unknown had not begun; {longest:.1f} s",
        holds=wrong == 0 and unbegun <= _UNBEGUN * unknown and set(outcomes["again"].kinds) <= {"success", "poison"},
        in_time=longest <= _ADDED,
    )


def _ask_on(fleet: Fleet, server: Server, outcomes: dict[str, _Outcome], stop: Event) -> None:
    while not stop.is_set():
        name = random.choice(list(outcomes))
        file, outcome = fleet.folder / uuid4().hex, outcomes[name]
        began = time.monotonic()
        answer = call(server, name, file=str(file), seconds=_SECONDS)
        took = time.monotonic() - began - _SECONDS
        error = answer.json().get("response_metadata", {}).get("error") or {}
        kind = error.get("kind") or ("success" if answer.status_code == 200 else str(answer.status_code))
        starts = len(read_times(file, "begun"))
        outcome.kinds[kind] += 1
        outcome.longest = max(outcome.longest, took / max(1, starts - 1))
        outcome.wrong += _is_wrong(name, kind, starts)
        outcome.unbegun += kind == "outcome_unknown" and starts == 0
        file.unlink(missing_ok=True)


def _is_wrong(name: str, kind: str, starts: int) -> bool:
    if name == "once":
        return starts > 1 or kind not in ("success", "outcome_unknown") or (kind == "success" and starts != 1)
    return not 1 <= starts <= 3 or kind not in ("success", "poison")


def _kill_servers(fleet: Fleet, store: str, ends: int) -> Finding:
    two = fleet.serve(SIDECALL_STORE=store, SIDECALL_QUEUE_TIMEOUT="60")
    fleet.work("w", "--slots", "32")
    # A server that has just started judges none.
    time.sleep(11)
    waits, lost = [], 0
    for number in range(ends):
        one = fleet.serve(SIDECALL_STORE=store, SIDECALL_QUEUE_TIMEOUT="60")
        wait_for(lambda one=one: is_available(one, "again"))  # type: ignore[misc]
        time.sleep(random.random())
        files = [fleet.folder / f"end-{number}-{job}" for job in range(4)]
        jobs = [call(one, "again", headers=_LATER, file=str(it), seconds=1.5).json()["id"] for it in files]
        wait_for(lambda files=files: all(read_times(it, "begun") for it in files))  # type: ignore[misc]
        one.process.send_signal(signal.SIGKILL)
        killed = time.time()
        lost += sum(_wait_for_job(two, job) != "succeeded" for job in jobs)
        waits += [starts[-1] - killed for it in files if len(starts := read_times(it, "begun")) > 1]
    return Finding(
        "fleet",
        f"{ends} servers killed with four remembered calls each",
        f"all go on elsewhere within {_GOES_ON} s",
        f"{lost} lost; they go on after {min(waits):.1f} to {max(waits):.1f} s",
        holds=lost == 0,
        in_time=max(waits) <= _GOES_ON,
    )


def _wait_for_job(server: Server, job: str) -> str:
    stop = time.monotonic() + PATIENCE
    while time.monotonic() < stop:
        answer = CLIENT.get(f"{server.url}/tool_calls/{job}", headers={"prefer": "wait=20"}).json()
        if answer["status"] not in ("queued", "running"):
            return str(answer["status"])
    return "running"


def _cancel_elsewhere(fleet: Fleet, store: str, cancels: int) -> Iterator[Finding]:
    one, two = (fleet.serve(SIDECALL_STORE=store) for _ in range(2))
    wait_for(lambda: is_available(one, "once"))
    seen, answered = [], []
    with httpx.Client(timeout=PATIENCE, trust_env=False) as client:
        for number in range(cancels):
            file = fleet.folder / f"cancel-{number}"
            job = call(one, "once", headers=_LATER, file=str(file), seconds=30.0).json()["id"]
            wait_for(lambda file=file: bool(read_times(file, "begun")))  # type: ignore[misc]
            began, clock = time.monotonic(), time.time()
            client.post(f"{two.url}/tool_calls/{job}/cancel")
            client.get(f"{two.url}/tool_calls/{job}", headers={"prefer": "wait=20"})
            answered.append(time.monotonic() - began)
            wait_for(lambda file=file: bool(read_times(file, "ended")))  # type: ignore[misc]
            seen.append(read_times(file, "ended")[0] - clock)
    for what, times, bar in (("the tool sees it", seen, _SEEN), ("it is answered", answered, _ANSWERED)):
        yield Finding(
            "fleet",
            f"{cancels} calls cancelled at another server: {what}",
            f"p99 of {bar * 1000:.0f} ms",
            f"{_p99(times) * 1000:.0f} ms",
            holds=len(times) == cancels,
            in_time=_p99(times) <= bar,
        )


def _watch_elsewhere(fleet: Fleet, store: str, jobs: int = 5, events: int = 100) -> Finding:
    one, two = (fleet.serve(SIDECALL_STORE=store) for _ in range(2))
    wait_for(lambda: is_available(one, "tells"))
    late, shown = [], 0
    with httpx.Client(timeout=PATIENCE, trust_env=False) as client:
        for _ in range(jobs):
            job = call(one, "tells", headers=_LATER, count=events).json()["id"]
            with client.stream("GET", f"{two.url}/tool_calls/{job}/events") as stream:
                came = time.time()
                for line in stream.iter_lines():
                    if line.startswith("data: ") and '"total"' in line:
                        shown += 1
                        said = float(json.loads(line.removeprefix("data: "))["message"])
                        # What was said before the watcher came says nothing of the way.
                        late += [time.time() - said] if said >= came else []
    middle, most = (round(it * 1000) for it in (statistics.median(late), _p99(late)))
    return Finding(
        "fleet",
        f"{jobs} calls that say {events} things are watched at another server",
        "all of them are shown, p99 after 50 ms",
        f"{shown} of {jobs * events} shown, p50 {middle} ms, p99 {most} ms",
        holds=shown == jobs * events,
        in_time=_p99(late) <= _SEEN,
    )


def _p99(times: Sequence[float]) -> float:
    return sorted(times)[math.ceil(len(times) * 0.99) - 1]

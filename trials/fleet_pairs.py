"""Two of a kind in one fleet: servers that hold the same call, versions of a tool, and ways to the bus."""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from tests.kit.fleets import Fleet, call, fleet_of, is_available, wait_for
from tests.kit.postgres import find_programs
from tests.kit.postgres import running as running_postgres
from tests.kit.servers import CLIENT, Server
from tests.kit.slow_links import slow_link
from tests.kit.waiting import PATIENCE
from trials.finding import Finding
from trials.fleet_workers import TOOLS, read_times

_VERSION = '''
from sidecall import tool


@tool(queue="v")
async def tell(number: int, VERSION: int = 0) -> str:
    """Say which version this is."""
    return f"VERSION {number}"
'''
# Seconds that a server stands still: longer than the others wait for it.
_STILL = 14.0
# Seconds each way of the slow bus, and what a call may take beside its four ways.
_SLOW, _BESIDE = 0.2, 1.5


def run(stills: int = 2, calls: int = 2_000, slow_calls: int = 100) -> Iterator[Finding]:
    """Try them in a minute and a half; without PostgreSQL no servers share calls."""
    yield _run_slowly(slow_calls)
    yield _run_versions(calls)
    programs = find_programs()
    if programs is not None:
        with running_postgres(programs) as cluster, fleet_of(TOOLS) as fleet:
            store = cluster.address(cluster.make_database())
            servers = [fleet.serve(SIDECALL_STORE=store, SIDECALL_QUEUE_TIMEOUT="60") for _ in range(2)]
            fleet.work("w", "--slots", "32")
            for server in servers:
                wait_for(lambda server=server: is_available(server, "once"))  # type: ignore[misc]
            yield _ask_both(fleet, servers, 40)
            yield _stand_still(fleet, servers, stills)


def _starts(file: Path) -> int:
    return len(read_times(file, "begun"))


def _run_slowly(calls: int) -> Finding:
    with fleet_of(TOOLS) as fast, slow_link(fast.bus.port, _SLOW) as port:
        fleet = Fleet(replace(fast.bus, port=port), fast.folder, fast.tools, fast.key, fast.started)
        server = fleet.serve(SIDECALL_QUEUE_TIMEOUT="60")
        fleet.work("w", "--slots", "8")
        wait_for(lambda: is_available(server, "once"))
        files = [fleet.folder / f"slow-{number}" for number in range(calls)]

        def ask(file: Path) -> tuple[int, float]:
            began = time.monotonic()
            return call(server, "once", file=str(file), seconds=0.1).status_code, time.monotonic() - began

        # Fewer clients than slots, then more, so that calls go both ways: straight to the worker, and by the stream.
        with ThreadPoolExecutor(4) as few, ThreadPoolExecutor(16) as many:
            direct = list(few.map(ask, files[: calls // 2]))
            answers = direct + list(many.map(ask, files[calls // 2 :]))
        starts = Counter(map(_starts, files))
    statuses, longest = Counter(status for status, _ in answers), max(took for _, took in direct)
    return Finding(
        "fleet",
        f"{calls} calls over a bus that takes {_SLOW * 1000:.0f} ms each way",
        f"each is answered, and begins once; those that find a slot free take {4 * _SLOW + _BESIDE:.1f} s at most",
        f"{dict(statuses)}, starts {dict(starts)}, the longest took {longest:.1f} s",
        holds=set(statuses) == {200} and set(starts) == {1},
        in_time=longest <= 4 * _SLOW + _BESIDE,
    )


def _run_versions(calls: int) -> Finding:
    with fleet_of(TOOLS) as fleet:
        tools = [fleet.folder / f"version_{number}.py" for number in (1, 2)]
        for number, file in enumerate(tools, 1):
            file.write_text(_VERSION.replace("VERSION: int", f"of_{number}: int").replace("VERSION", str(number)))
        servers = [fleet.serve(tools=file, SIDECALL_QUEUE_TIMEOUT="30") for file in tools]
        for file in tools:
            fleet.work("v", "--slots", "4", tools=file)
        for server in servers:
            wait_for(lambda server=server: is_available(server, "tell"))  # type: ignore[misc]

        def ask(number: int) -> bool:
            answer = call(servers[number % 2], "tell", number=number)
            return answer.status_code == 200 and answer.json()["content"] == f"{number % 2 + 1} {number}"

        with ThreadPoolExecutor(16) as threads:
            right = sum(threads.map(ask, range(calls)))
    return Finding(
        "fleet",
        f"{calls:,} calls at servers of two versions of a tool, with workers of both",
        "each runs at its own version",
        f"{right:,} did",
        holds=right == calls,
    )


def _ask_both(fleet: Fleet, servers: Sequence[Server], keys: int) -> Finding:
    starts, statuses = Counter[int](), Counter[int]()
    with ThreadPoolExecutor(8) as threads:
        for _ in range(keys):
            file, key = fleet.folder / uuid4().hex, {"idempotency-key": uuid4().hex}
            asked = [
                threads.submit(call, servers[number % 2], "once", headers=key, file=str(file), seconds=0.05)
                for number in range(8)
            ]
            statuses.update(it.result().status_code for it in asked)
            starts[_starts(file)] += 1
    return Finding(
        "fleet",
        f"{keys} calls are sent to two servers at once, four times to each, with one idempotency key",
        "each begins once, and all are answered",
        f"starts {dict(starts)}, answers {dict(statuses)}",
        holds=set(starts) == {1} and set(statuses) == {200},
    )


def _stand_still(fleet: Fleet, servers: Sequence[Server], times: int) -> Finding:
    """Stop a server with remembered calls, so that another takes them up, and let it go on.

    It may give out what is idempotent once more, before it learns that the call is not its own any longer.
    """
    ends, starts = Counter[str](), {"once": Counter[int](), "again": Counter[int]()}
    one, two = servers
    time.sleep(11)  # A server that has just started judges none.
    for _ in range(times):
        jobs: list[tuple[str, str, Path]] = []
        for name in starts:
            for _ in range(4):
                file = fleet.folder / uuid4().hex
                said = call(one, name, headers={"prefer": "respond-async"}, file=str(file), seconds=_STILL + 2)
                jobs.append((name, said.json()["id"], file))
        wait_for(lambda jobs=jobs: all(_starts(file) for _, _, file in jobs))  # type: ignore[misc]
        os.kill(one.pid, signal.SIGSTOP)
        time.sleep(_STILL)
        os.kill(one.pid, signal.SIGCONT)
        for name, job, file in jobs:
            ends[f"{name} {_wait_for(two, job)}"] += 1
            starts[name][_starts(file)] += 1
    return Finding(
        "fleet",
        f"a server with remembered calls stands still for {_STILL:.0f} s while another takes them up, {times} times",
        "none is lost, and those that must not run twice begin once",
        f"{dict(ends)}, starts { ({name: dict(it) for name, it in starts.items()}) }",
        holds=set(starts["once"]) == {1}
        and set(starts["again"]) <= {1, 2, 3}
        and set(ends) <= {"again succeeded", "once succeeded", "once outcome_unknown"},
    )


def _wait_for(server: Server, job: str) -> str:
    stop = time.monotonic() + PATIENCE
    status = "running"
    while status in ("queued", "running") and time.monotonic() < stop:
        answer = CLIENT.get(f"{server.url}/tool_calls/{job}", headers={"prefer": "wait=20"})
        status = str(answer.json()["status"])
    return status

"""A minute of everything at once: what grows, what is lost, what stays behind."""

import asyncio
import json
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop

from tests.kit.lines import ask_once, call
from tests.kit.servers import Server, total
from trials.finding import Finding
from trials.mix import Load, press
from trials.serving import count_open_files, count_threads, serving

_CLIENTS = 48
_WARM_UP = 15.0
_SECONDS = 60.0
_SETTLING = 3.0
_SHORTLY = 1.0
_PATIENCE = 60.0
_EDGE = 10
_TOLERANCE = 0.1
# Everything that is kept by design reaches its bound in the warm-up.
_SETTINGS = {
    "SIDECALL_MAX_CONCURRENCY": "48",
    "SIDECALL_MAX_QUEUE": "32",
    "SIDECALL_THREADS": "8",
    "SIDECALL_PROCESSES": "2",
    "SIDECALL_MAX_BODY_BYTES": "65536",
    "SIDECALL_MAX_CONTENT_BYTES": "10000",
    "SIDECALL_MAX_ARTIFACT_BYTES": "4000000",
    "SIDECALL_MAX_APPROVALS": "100",
    "SIDECALL_APPROVAL_TTL": "2",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """What a server holds at one moment, with its processes' memory."""

    server_mb: float
    children_mb: float
    files: int
    threads: int
    tasks: int

    @property
    def left(self) -> tuple[int, int, int]:
        """The values that must return to their start once there is no traffic."""
        return self.files, self.threads, self.tasks


def run_shortly() -> Iterator[Finding]:
    """Load a server for a few seconds, and look whether anything is lost."""
    with serving(**_SETTINGS) as server:
        load = uvloop.run(press(server.port, 8, _SHORTLY))
        _await_idle(server)
        yield _nothing_lost(load, server.metrics(), 8, _SHORTLY)


def _await_idle(server: Server) -> None:
    """Wait for what clients that hung up have left running."""
    end = time.monotonic() + _PATIENCE
    while total(server.metrics(), "sidecall_calls_in_flight") and time.monotonic() < end:
        time.sleep(0.05)


def run() -> Iterator[Finding]:
    """Load a server, and look at it every second."""
    with serving(**_SETTINGS) as server:
        before, samples, after, load = uvloop.run(_soak(server))
        metrics = server.metrics()
        unfreed = int(uvloop.run(ask_once(server.port, call("collect"))).content)
    yield _nothing_lost(load, metrics, _CLIENTS, _SECONDS)
    yield _memory_flat(samples, unfreed)
    yield _nothing_left(before, after, samples)


async def _soak(server: Server) -> tuple[Sample, list[Sample], Sample, Load]:
    await press(server.port, _CLIENTS, _WARM_UP)
    await asyncio.sleep(_SETTLING)
    before = await look(server)
    pressing = asyncio.create_task(press(server.port, _CLIENTS, _SECONDS))
    samples: list[Sample] = []
    while not pressing.done():
        samples.append(await look(server))
        await asyncio.wait([pressing], timeout=1)
    await asyncio.sleep(_SETTLING)
    return before, samples, await look(server), await pressing


async def look(server: Server) -> Sample:
    """Read what the system and a tool say."""
    answer = await ask_once(server.port, call("counts"))
    while answer.status == 503:
        await asyncio.sleep(0.01)
        answer = await ask_once(server.port, call("counts"))
    own, *others = [resident_mb(pid) for pid in members(server.pid)]
    return Sample(
        own, sum(others), count_open_files(server.pid), count_threads(server.pid), json.loads(answer.content)["tasks"]
    )


def members(pid: int) -> list[int]:
    """List a process and those that it has started; some may be gone already."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        listed = []
    return [pid, *(member for child in listed for member in members(int(child)))]


def resident_mb(pid: int) -> float:
    """Return what a process holds; nothing when it is gone."""
    try:
        found = re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0.0
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _nothing_lost(load: Load, metrics: dict[str, float], clients: int, seconds: float) -> Finding:
    left = total(metrics, "sidecall_calls_in_flight") + total(metrics, "sidecall_queue_length")
    defects = total(metrics, "sidecall_calls_total", 'outcome="internal_error"')
    wrong = "; ".join(f"{count} {what}" for what, count in load.wrong.most_common(5))
    return Finding(
        "soak",
        f"{len(load.done)} kinds of requests, right and wrong, on {clients} connections for {seconds:g} s",
        "each answered as it should be; no call left, no internal error",
        f"{load.done.total():,} requests, {load.done.total() / seconds:,.0f} a second, {load.refused:,} of them "
        f"503; wrong: {wrong or 'none'}; left: {left:.0f}; internal errors: {defects:.0f}",
        not load.wrong and not left and not defects,
    )


def _memory_flat(samples: Sequence[Sample], unfreed: int) -> Finding:
    server = edges([sample.server_mb for sample in samples])
    both = edges([sample.server_mb + sample.children_mb for sample in samples])
    return Finding(
        "soak",
        f"resident memory every second, after {_WARM_UP:g} s of the same",
        f"median of the last {_EDGE} s within {_TOLERANCE:.0%} of the first {_EDGE} s",
        f"server {server[0]:.1f} to {server[1]:.1f} MB, with its processes {both[0]:.1f} to {both[1]:.1f} MB; "
        f"{unfreed:,} objects that waited for Python's collector of cycles",
        True,
        is_flat(*server) and is_flat(*both),
    )


def edges(figures: Sequence[float]) -> tuple[float, float]:
    """Return the medians of the first and the last figures."""
    return statistics.median(figures[:_EDGE]), statistics.median(figures[-_EDGE:])


def is_flat(first: float, last: float) -> bool:
    """Return whether something has neither grown nor shrunk by much."""
    return abs(last - first) <= _TOLERANCE * first


def _nothing_left(before: Sample, after: Sample, samples: Sequence[Sample]) -> Finding:
    files, running, tasks = (max(figures) for figures in zip(*(sample.left for sample in samples), strict=True))
    return Finding(
        "soak",
        f"{_SETTLING:g} s after the load, against {_SETTLING:g} s after the warm-up",
        "no more descriptors, threads and tasks than before",
        f"descriptors {before.files}, {files} at most, then {after.files}; "
        f"threads {before.threads}, {running}, {after.threads}; tasks {before.tasks}, {tasks}, {after.tasks}",
        all(then <= now for now, then in zip(before.left, after.left, strict=True)),
    )

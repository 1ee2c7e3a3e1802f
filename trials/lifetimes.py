"""The start and the end of a server, with calls in flight and with what would hold it up."""

import asyncio
import socket
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.rounds import milliseconds
from tests.kit.lines import Answer, ask_once, call, get
from tests.kit.servers import Server
from trials.finding import Finding
from trials.judging import is_success, span, tally
from trials.serving import serving

_STARTS = 5
_TOOL = '''
@tool
def search_{number}(query: str, limit: int = 5, tags: list[str] | None = None) -> list[str]:
    """Search place {number}.

    Args:
        query: What to look for.
        limit: How many results.
        tags: Only what has one of them.
    """
    return [query] * limit
'''


@dataclass(frozen=True)
class _End:
    """The calls around a SIGTERM, and the end of the server."""

    signaled: float
    early: list[Answer]
    late: list[Answer]
    ready: list[Answer]
    health: list[Answer]
    exit_code: int | None
    seconds: float


def run_shortly() -> Iterator[Finding]:
    """Try B16 and B17."""
    with serving(SIDECALL_DRAIN_GRACE="2", SIDECALL_DRAIN_TIMEOUT="30") as server:
        yield from _drained(server)


def run() -> Iterator[Finding]:
    """Try B16 to B18, B21 and B22, and an end amid a stream of new calls."""
    with serving(SIDECALL_DRAIN_GRACE="2", SIDECALL_DRAIN_TIMEOUT="5") as server:
        yield from _drained(server)
    with serving(SIDECALL_DRAIN_GRACE="2", SIDECALL_DRAIN_TIMEOUT="30") as server:
        yield _stream_of_calls(server)
    with serving(SIDECALL_DRAIN_TIMEOUT="1") as server:
        yield _cut_off(server)
    with tempfile.TemporaryDirectory() as folder:
        yield _start(Path(folder) / "fifty.py")
    yield from _held_up()


def _drained(server: Server) -> Iterator[Finding]:
    end = uvloop.run(_end_amid(server, call("pause", seconds=3.0), every=0.1, seconds=1.8))
    done = sum(map(is_success, end.early))
    yield Finding(
        "B16",
        "SIGTERM with 100 calls of 3 s in flight, a new connection with a call every 100 ms; grace 2 s, timeout 5 s",
        "100 of 100 answered, new calls served or a clean 503, all with Connection: close, none reset; exit 0 in ≤ 8 s",
        f"{done} of {len(end.early)} answered; new ones: {tally(end.late)}; exit {end.exit_code} "
        f"after {end.seconds:.1f} s",
        done == len(end.early) and _all_told(end) and end.exit_code == 0,
        end.seconds <= 8,
    )
    flipped = min((answer.ended for answer in end.ready if answer.status == 503), default=float("inf")) - end.signaled
    stayed = sum(answer.status == 200 for answer in end.health)
    yield Finding(
        "B17",
        "meanwhile `GET /readyz` and `GET /healthz`, every 20 ms",
        "/readyz is 503 within 100 ms, /healthz stays 200",
        f"/readyz 503 after {milliseconds(flipped)}; /healthz 200: {stayed} of {len(end.health)}",
        stayed == len(end.health) and end.ready[-1].status == 503,
        flipped <= 0.1,
    )


def _all_told(end: _End) -> bool:
    """Return whether every late call was answered, and each answer closed its connection."""
    answered = all(answer.status in (200, 503) for answer in end.late)
    return answered and all(answer.headers.get("connection") == "close" for answer in (*end.early, *end.late))


def _stream_of_calls(server: Server) -> Finding:
    end = uvloop.run(_end_amid(server, call("pause", seconds=2.0), every=0.01, seconds=1.0))
    answers = [*end.early, *end.late]
    done = sum(map(is_success, answers))
    return Finding(
        "end",
        "SIGTERM with 100 calls of 2 s in flight, a new connection with such a call every 10 ms for 1 s; as shipped",
        "every call is 200: none reset, none lost; exit 0",
        f"{done} of {len(answers)}: {tally(answers)}; exit {end.exit_code} after {end.seconds:.1f} s",
        done == len(answers) and end.exit_code == 0,
    )


async def _end_amid(server: Server, request: bytes, every: float, seconds: float) -> _End:
    early = [asyncio.create_task(ask_once(server.port, request)) for _ in range(100)]
    await asyncio.sleep(0.5)
    signaled = server.terminate()
    late, ready, health = await asyncio.gather(
        _anew(server.port, request, every, seconds),
        _anew(server.port, get("/readyz"), 0.02, seconds),
        _anew(server.port, get("/healthz"), 0.02, seconds),
    )
    answered = await asyncio.gather(*early)
    exit_code = await asyncio.to_thread(server.exit_code)
    return _End(signaled, answered, late, ready, health, exit_code, time.monotonic() - signaled)


async def _anew(port: int, request: bytes, every: float, seconds: float) -> list[Answer]:
    """Ask at a fixed pace, each time on a new connection."""
    asked: list[asyncio.Task[Answer]] = []
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        asked.append(asyncio.create_task(ask_once(port, request)))
        await asyncio.sleep(every)
    return await asyncio.gather(*asked)


def _cut_off(server: Server) -> Finding:
    requests = [call(tool, seconds=60.0) for tool in ("pause", "doze", "doze_apart") for _ in range(20)]
    answers, exit_code, seconds = uvloop.run(_end_under(server, requests))
    told = sum(map(_is_shutting_down, answers))
    return Finding(
        "B18",
        "SIGTERM with 60 calls of 60 s in flight, async, in threads and in processes; timeout 1 s",
        "each is 503 shutting-down, retryable, with Retry-After; exit 0 in ≤ 3 s",
        f"{told} of {len(answers)}: {tally(answers)}; exit {exit_code} after {seconds:.1f} s",
        told == len(answers) and exit_code == 0,
        seconds <= 3,
    )


def _is_shutting_down(answer: Answer) -> bool:
    may_be_repeated = answer.json.get("retryable") is True and "retry-after" in answer.headers
    return answer.status == 503 and answer.kind == "shutting-down" and may_be_repeated


async def _end_under(server: Server, requests: Sequence[bytes]) -> tuple[list[Answer], int | None, float]:
    asked = [asyncio.create_task(ask_once(server.port, request)) for request in requests]
    await asyncio.sleep(0.5)
    signaled = server.terminate()
    answers = await asyncio.gather(*asked)
    exit_code = await asyncio.to_thread(server.exit_code)
    return answers, exit_code, time.monotonic() - signaled


def _start(file: Path) -> Finding:
    file.write_text("from sidecall import tool\n" + "".join(_TOOL.format(number=number) for number in range(50)))
    seconds, memory = zip(*(_started(str(file)) for _ in range(_STARTS)), strict=True)
    return Finding(
        "B21",
        f"start with 50 tools, {_STARTS} times",
        "≤ 1.5 s from the process to `GET /readyz` 200; resident memory when idle ≤ 120 MB",
        f"{statistics.median(seconds):.2f} s ({span(seconds)}); {max(memory):.0f} MB",
        max(seconds) < float("inf"),
        statistics.median(seconds) <= 1.5 and max(memory) <= 120,
    )


def _started(tools: str) -> tuple[float, float]:
    start = time.monotonic()
    with serving(tools) as server:
        answer = uvloop.run(ask_once(server.port, get("/readyz")))
        seconds = answer.ended - start if answer.status == 200 else float("inf")
        time.sleep(0.5)
        return seconds, server.resident_mb()


def _held_up() -> Iterator[Finding]:
    """End three servers at once, each with something that does not end."""
    with ExitStack() as stack:
        collector = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        endpoint = f"http://127.0.0.1:{collector.getsockname()[1]}"
        cases = {
            "an async tool that hangs in its clean-up": (serving(), call("never_clean", seconds=60.0)),
            "a thread that sleeps for an hour": (serving(), call("doze", seconds=3600.0)),
            "a collector of traces that never answers": (
                serving(SIDECALL_OTEL="on", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint),
                call("pause", seconds=60.0),
            ),
        }
        started = [(stack.enter_context(server), request) for server, request in cases.values()]
        ends = uvloop.run(_end_all(started))
    for what, (answers, exit_code, seconds) in zip(cases, ends, strict=True):
        yield Finding(
            "B22",
            f"SIGTERM with {what}; timeout 1 s",
            "exit 0 in ≤ 10 s, the call in flight answered",
            f"exit {exit_code} after {seconds:.1f} s; calls: {tally(answers)}",
            exit_code == 0 and all(answer.status for answer in answers),
            seconds <= 10,
        )


async def _end_all(started: Sequence[tuple[Server, bytes]]) -> list[tuple[list[Answer], int | None, float]]:
    return await asyncio.gather(*(_end_under(server, [request] * 3) for server, request in started))

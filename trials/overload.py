"""More calls than there is room for, and slow ones next to fast ones."""

import asyncio
import gc
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvloop

from bench.rounds import milliseconds, percentile
from tests.kit.lines import Answer, Line, ask_once, call, get, steadily, together
from tests.kit.servers import Server, total
from trials.finding import Finding
from trials.judging import is_refusal, is_success, quantiles, tally
from trials.serving import serving

_CLIENTS = 500
_LIMIT = 100
_SECONDS = 20.0
# What a client waits after a 503, at random; 400 of them then come back some 2,600 times a second, where Retry-After
# says 400.
_PAUSE = (0.1, 0.2)
# They do not come in the same moment; that is what the burst is for.
_ARRIVING = (0.0, 1.0)
_BESIDE = 5.0


def run_shortly() -> Iterator[Finding]:
    """Try a burst."""
    with serving(SIDECALL_MAX_CONCURRENCY="50", SIDECALL_MAX_QUEUE="100") as server:
        yield _burst(server)


def run() -> Iterator[Finding]:
    """Try B1 to B4, and a burst."""
    with _uncollected(), serving(SIDECALL_MAX_CONCURRENCY=str(_LIMIT), SIDECALL_MAX_QUEUE="0") as server:
        yield from _shedding(server)
    with serving() as server:
        yield from _bulkheads(server)
    with serving() as server:
        yield _computing(server, "compute", "in a thread")
        yield _computing(server, "compute_apart", "in a process")
    with serving(SIDECALL_MAX_CONCURRENCY="50", SIDECALL_MAX_QUEUE="100") as server:
        yield _burst(server)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep this process from walking through all answers again and again, which would be measured too."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _shedding(server: Server) -> Iterator[Finding]:
    before = server.resident_mb()
    answers = uvloop.run(_crowd(server.port, call("pause", seconds=1.0)))
    grown = server.resident_mb(peak=True) - before
    accepted = [answer for answer in answers if is_success(answer)]
    refused = [answer for answer in answers if is_refusal(answer)]
    counted = server.metrics()
    ran = total(counted, "sidecall_calls_total", 'outcome="success"')
    p99 = percentile([answer.seconds for answer in accepted], 0.99)
    yield Finding(
        "B1",
        f"{_CLIENTS} clients call a tool of 1 s for {_SECONDS:g} s; {_LIMIT} may run, none wait",
        "only 200 and 503 with Retry-After; none reset or lost; memory grows < 100 MB; p99 of accepted < 1.5 s",
        f"{tally(answers)}; the server counts {ran:,.0f} successes; +{grown:.0f} MB; accepted p99 {p99:.2f} s",
        len(accepted) + len(refused) == len(answers) and ran == len(accepted),
        grown < 100 and p99 < 1.5,
    )
    slow = percentile([answer.seconds for answer in refused], 0.99)
    rate = len(refused) / _SECONDS
    yield Finding(
        "B2",
        f"the 503s of B1, from clients that come back after {_PAUSE[0]:g} to {_PAUSE[1]:g} s",
        "p99 < 20 ms, ≥ 2,000 a second",
        f"{rate:,.0f} a second, {quantiles(refused)}",
        bool(refused),
        slow < 0.02 and rate >= 2000,
    )


async def _crowd(port: int, request: bytes) -> list[Answer]:
    lines = [Line(port) for _ in range(_CLIENTS)]
    await asyncio.gather(*(line.open() for line in lines))
    end = time.monotonic() + _SECONDS
    heard = await asyncio.gather(*(_insist(line, request, end) for line in lines))
    for line in lines:
        line.close()
    return [answer for answers in heard for answer in answers]


async def _insist(line: Line, request: bytes, end: float) -> list[Answer]:
    answers: list[Answer] = []
    await asyncio.sleep(random.uniform(*_ARRIVING))
    while time.monotonic() < end:
        answers.append(await line.ask(request))
        if answers[-1].status == 503:
            await asyncio.sleep(random.uniform(*_PAUSE))
    return answers


def _bulkheads(server: Server) -> Iterator[Finding]:
    for tool, slow, others in (
        ("add_inline", "pause", "on the event loop"),
        ("add", "doze", "in threads, with max_concurrency=16 of 32"),
        ("add_apart", "doze_apart", "in processes, with max_concurrency=2 of 4"),
    ):
        answers = uvloop.run(_mix(server.port, call(tool, a=1, b=2), call(slow, seconds=10.0), 100))
        p99 = percentile([answer.seconds for answer in answers], 0.99)
        right = sum(answer.content == "3" for answer in answers)
        yield Finding(
            "B3",
            f"100 calls of a tool of 10 s {others}; beside them `{tool}` 50 times a second",
            "every call answered, p99 < 50 ms",
            f"{right} of {len(answers)} answered, {quantiles(answers)}",
            right == len(answers),
            p99 < 0.05,
        )


async def _mix(port: int, quick: bytes, slow: bytes, count: int) -> list[Answer]:
    """Make quick calls during slow ones, whose clients then hang up."""
    others = [asyncio.create_task(ask_once(port, slow)) for _ in range(count)]
    await asyncio.sleep(0.5)
    answers = await steadily(port, quick, 0.02, _BESIDE)
    for other in others:
        other.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    return answers


def _computing(server: Server, tool: str, where: str) -> Finding:
    answers = uvloop.run(_mix(server.port, get("/healthz"), call(tool, seconds=_BESIDE + 1), 1))
    times = [answer.seconds for answer in answers]
    p99 = percentile(times, 0.99)
    alive = sum(answer.status == 200 for answer in answers)
    return Finding(
        "B4",
        f"a tool that computes in pure Python {where}; beside it `GET /healthz` 50 times a second",
        "all 200, p99 < 100 ms, largest < 500 ms",
        f"{alive} of {len(answers)} are 200, {quantiles(answers)}",
        alive == len(answers),
        p99 < 0.1 and max(times) < 0.5,
    )


def _burst(server: Server) -> Finding:
    answers = uvloop.run(together(server.port, call("pause", seconds=0.5), 500))
    ran = sum(is_success(answer) for answer in answers)
    refused = [answer for answer in answers if is_refusal(answer)]
    counted = total(server.metrics(), "sidecall_calls_total", 'outcome="success"')
    return Finding(
        "burst",
        "500 calls of a tool of 0.5 s in one moment; 50 may run, 100 wait",
        "the 150 that there is room for are 200, the others 503 with Retry-After, none reset, none lost",
        f"{tally(answers)}; the server counts {counted:.0f} successes; "
        f"503 after {milliseconds(max(answer.seconds for answer in refused))} at most",
        ran + len(refused) == len(answers) and ran == counted and ran >= 150,
    )

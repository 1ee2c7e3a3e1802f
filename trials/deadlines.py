"""Tools that do not end, and tools that end their process."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvloop

from bench.rounds import milliseconds
from tests.kit.lines import Answer, Line, ask_once, call, steadily, together
from tests.kit.servers import Server, total
from trials.finding import Finding
from trials.judging import is_success, quantiles, span
from trials.serving import is_alive, serving

_ABANDONED = ("sidecall_executor_abandoned", 'executor="thread"')
_POOL = 4
_MOMENT = 0.02


def run_shortly() -> Iterator[Finding]:
    """Try tools that do not end and processes that die."""
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        yield from _hanging(server, Path(folder) / "pid")
    with serving(SIDECALL_PROCESSES="1") as server, tempfile.TemporaryDirectory() as folder:
        yield from _deaths(server, Path(folder))


def run() -> Iterator[Finding]:
    """Try B6, threads that are stuck, processes that die, and clients that go."""
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        yield from _hanging(server, Path(folder) / "pid")
        yield _gone(server)
    with serving() as server:
        yield _overslept(server)
    with serving(SIDECALL_THREADS=str(_POOL)) as server:
        yield from _exhausted(server)
    with serving(SIDECALL_PROCESSES="1") as server, tempfile.TemporaryDirectory() as folder:
        yield from _deaths(server, Path(folder))


def _hanging(server: Server, pid_file: Path) -> Iterator[Finding]:
    requests = {
        "waits 60 s on the event loop": call("hang"),
        "swallows every cancellation for 8 s": call("hang_on", seconds=8.0),
        "waits 8 s in a thread": call("hang_in_thread", seconds=8.0),
        "waits 60 s in a process": call("hang_apart", pid_file=str(pid_file)),
    }
    answers = uvloop.run(_each(server.port, list(requests.values())))
    left = {
        "waits 8 s in a thread": _abandoned(server, 1),
        "waits 60 s in a process": _gone_process(pid_file),
    }
    for (what, _), answer in zip(requests.items(), answers, strict=True):
        said, holds = left.get(what, ("", True))
        yield Finding(
            "B6",
            f"a tool with timeout=1 {what}",
            "kind timeout, in ≤ 1.2 s; the process gone, the thread counted",
            f"{answer.kind or answer.failure} after {answer.seconds:.2f} s{said}",
            answer.kind == "timeout" and holds,
            1 <= answer.seconds <= 1.2,
        )


async def _each(port: int, requests: list[bytes]) -> list[Answer]:
    return await asyncio.gather(*(ask_once(port, request) for request in requests))


def _abandoned(server: Server, expected: int) -> tuple[str, bool]:
    found = total(server.metrics(), *_ABANDONED)
    return f"; abandoned threads: {found:.0f}", found == expected


def _gone_process(pid_file: Path) -> tuple[str, bool]:
    pid = int(pid_file.read_text())
    gone = _seconds_until(lambda: not is_alive(pid), 20)
    return ("; its process lives on", False) if gone is None else (f"; process gone {milliseconds(gone)} later", True)


def _seconds_until(is_so: Callable[[], bool], patience: float) -> float | None:
    start = time.monotonic()
    while time.monotonic() - start < patience:
        if is_so():
            return time.monotonic() - start
        time.sleep(_MOMENT)
    return None


def _gone(server: Server) -> Finding:
    closed, cleaned = uvloop.run(_hang_up(server.port))
    after = None if cleaned is None else cleaned - closed
    return Finding(
        "hang-up",
        "the client closes its connection 0.2 s into an async tool of 5 s",
        "the tool's `finally` runs within 0.3 s",
        "it did not run" if after is None else f"after {milliseconds(after)}",
        after is not None,
        after is not None and after <= 0.3,
    )


async def _hang_up(port: int) -> tuple[float, float | None]:
    closed = await Line(port).hang_up(call("wait_unheard", mark="trial"), 0.2)
    await asyncio.sleep(1)
    answer = await ask_once(port, call("noted", mark="trial"))
    return closed, float(answer.content) if answer.content not in ("", "null") else None


def _overslept(server: Server) -> Finding:
    answer = uvloop.run(ask_once(server.port, call("oversleep", seconds=10.0)))
    during = total(server.metrics(), *_ABANDONED)
    freed = _seconds_until(lambda: total(server.metrics(), *_ABANDONED) == 0, 11.0)
    ended = "never" if freed is None else f"{answer.seconds + freed:.1f} s after the call"
    return Finding(
        "timeout",
        "a sync tool with timeout=0.5 sleeps 10 s",
        "kind timeout in 0.5 to 0.7 s; one abandoned thread, none when the tool has ended",
        f"{answer.kind or answer.failure} after {answer.seconds:.2f} s; abandoned {during:.0f}, 0 again {ended}",
        answer.kind == "timeout" and during == 1 and freed is not None,
        0.5 <= answer.seconds <= 0.7,
    )


def _exhausted(server: Server) -> Iterator[Finding]:
    stuck, beside, threads = uvloop.run(_fill(server.port))
    times = [answer.seconds for answer in stuck]
    metrics = server.metrics()
    abandoned = total(metrics, *_ABANDONED)
    size = total(metrics, "sidecall_executor_size", 'executor="thread"')
    yield Finding(
        "timeout",
        f"20 calls at once of a sync tool with timeout=0.5 that sleeps 10 s, in {_POOL} threads",
        f"20 answers of kind timeout, each in 0.5 to 0.7 s; never more than {_POOL} threads",
        f"{sum(answer.kind == 'timeout' for answer in stuck)} timeouts after {span(times)}; {threads} threads at most, "
        f"{abandoned:.0f} of {size:.0f} abandoned",
        all(answer.kind == "timeout" for answer in stuck) and threads <= _POOL and abandoned == _POOL,
        all(0.5 <= answer.seconds <= 0.7 for answer in stuck),
    )
    right = sum(is_success(answer) for answer in beside)
    yield Finding(
        "timeout",
        "meanwhile an async tool of 0.1 s and one in a process, 10 times a second each",
        "every call succeeds",
        f"{right} of {len(beside)} succeed, {quantiles(beside)}",
        right == len(beside),
    )


async def _fill(port: int) -> tuple[list[Answer], list[Answer], int]:
    stuck = asyncio.create_task(together(port, call("oversleep", seconds=10.0), 20))
    waiting, apart, counts = await asyncio.gather(
        steadily(port, call("pause", seconds=0.1), 0.1, 2.0),
        steadily(port, call("add_apart", a=1, b=2), 0.1, 2.0),
        steadily(port, call("counts"), 0.05, 2.0),
    )
    return await stuck, [*waiting, *apart], max(_threads(answer) for answer in counts)


def _threads(answer: Answer) -> int:
    return int(answer.content.partition('"threads":')[2].rstrip("} "))


def _deaths(server: Server, folder: Path) -> Iterator[Finding]:
    for name, what, kind, within in (
        ("spin", "computes for ever, with timeout=1", "timeout", 1.2),
        ("leave", "calls os._exit(1)", "execution_error", 1.0),
        ("crash", "reads address 0", "execution_error", 1.0),
        ("devour", "takes 2 GB of the 256 MB that it may", "execution_error", 1.0),
    ):
        pid_file = folder / name
        args: dict[str, Any] = {"pid_file": str(pid_file)} | ({"megabytes": 2048} if name == "devour" else {})
        answer, following = uvloop.run(_in_turn(server.port, call(name, **args), call("add_apart", a=1, b=2)))
        said, is_gone = _gone_process(pid_file)
        yield Finding(
            "process",
            f"a tool in the only process {what}",
            f"kind {kind} in ≤ {within:g} s, the process gone, and the next call succeeds within 1 s",
            f"{answer.kind or answer.failure} after {answer.seconds:.2f} s{said}; "
            f"next {following.content or following.failure} after {milliseconds(following.seconds)}",
            answer.kind == kind and is_gone and following.content == "3",
            answer.seconds <= within and following.seconds <= 1,
        )


async def _in_turn(port: int, *requests: bytes) -> list[Answer]:
    return [await ask_once(port, request) for request in requests]

"""A history of a million calls, and one whose server is killed."""

import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import httpx
import uvloop

from sidecall import tool
from sidecall.features.history.history import History
from sidecall.features.history.memory_store import HistoryBounds
from sidecall.features.history.packing import Packer
from sidecall.features.history.pending_calls import NotedCall, PendingCalls
from sidecall.features.history.rollups import SummaryPart
from sidecall.features.history.sql_store import SqlBlocks
from sidecall.features.ledger.open_ledger import open_history
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.call_entry import CallFilter
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

_CALLS = 1_000_000
_DAYS = 7
_TOOLS = 40
_CALLERS = 100
_GROUP = 10_000
_BURST = 250
# Milliseconds that a question may take.
_LIST, _SUMMARY = 20.0, 200.0
_OUTCOMES: Sequence[Any] = ("success",) * 960 + ("tool_error",) * 30 + ("invalid_arguments",) * 9 + ("timeout",)
_RARE = "a-rare-caller"


@tool
async def echo(text: str) -> str:
    """Say what was said.

    Args:
        text: What.
    """
    return text


def run() -> Iterator[Finding]:
    """Try both on a file and a database."""
    with homes("sqlite", "postgres") as found:
        for home in found:
            yield from uvloop.run(_ask(home))
            yield _forgets_during_calls(home)
            home.stop()
            yield _killed(home)


@dataclass
class _Made:
    seconds: float
    history: History


async def _fill(home: Deployment) -> _Made:
    database = open_history(home.store)
    assert database is not None
    blocks = SqlBlocks(database, HistoryBounds(1e9, 10 * _CALLS, 2**50))
    history = History(PendingCalls(2**30, None), Packer(), blocks, 1e9)
    await history.open()
    chance = random.Random(1)
    tools = [_rename(f"tool_{number}") for number in range(_TOOLS)]
    callers = [Caller(f"caller {number}") for number in range(_CALLERS)]
    end = time.time()
    # Bursts of as many calls as one block may hold, as a busy server packs them.
    gap = _DAYS * 86_400 * _BURST / _CALLS
    began, packer = time.process_time(), Packer()
    for first in range(0, _CALLS, _GROUP):
        group = []
        for number in range(first, first + _GROUP):
            caller = Caller(_RARE) if number % 200_000 == 7 else chance.choice(callers)
            moment = end - (_CALLS - number) // _BURST * gap - 2 + number % _BURST / _BURST
            group.append(_note(moment, chance.choice(tools), caller, chance))
        packed = [block for at in range(0, _GROUP, _BURST) for block in packer.pack(group[at : at + _BURST])]
        await blocks.keep(packed, packer.take_sums())
    return _Made(time.process_time() - began, history)


def _rename(name: str) -> CompiledTool:
    return replace(echo.compiled, name=name)


def _note(moment: float, called: CompiledTool, caller: Caller, chance: random.Random) -> NotedCall:
    milliseconds = int(moment * 1000)
    rest = f"{chance.getrandbits(76):019x}"
    digits = f"{milliseconds:012x}7{rest}"
    parts = digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]
    outcome = chance.choice(_OUTCOMES)
    seconds = chance.lognormvariate(-4, 1)
    kept = ({"text": "a question of some words"}, True, "an answer of about as many words as that", None)
    # Moments are of the monotonic clock.
    ended = moment + seconds - time.time() + time.monotonic()
    return NotedCall("-".join(parts), f"call_{rest}", called, caller, outcome, seconds, ended, False, kept, ())


_SOME = CallFilter("default")
_FILTERS = {
    "all": _SOME,
    "name": replace(_SOME, names=["tool_7"]),
    "three names": replace(_SOME, names=["tool_1", "tool_2", "tool_3"]),
    "status": replace(_SOME, status="failed"),
    "kind of 0.1 %": replace(_SOME, kind="timeout"),
    "caller of five calls": replace(_SOME, caller=_RARE),
    "name, kind and caller": replace(_SOME, names=["tool_7"], kind="timeout", caller="caller 7"),
    "none": replace(_SOME, names=["tool_7"], caller="nobody"),
}
_PARTS: tuple[SummaryPart, ...] = ("name", "status", "kind", "caller", "hour")


async def _ask(home: Deployment) -> list[Finding]:
    made = await _fill(home)
    found = [await _list(home, made), await _sum_up(home, made.history)]
    await made.history.close()
    return found


async def _list(home: Deployment, made: _Made) -> Finding:
    history, now = made.history, time.time()
    took = {name: await _time(partial(history.list, wanted, 100, None)) for name, wanted in _FILTERS.items()}
    page = await history.list(replace(_SOME, until=now - 4 * 86_400), 100, None)
    took["a page in the middle"] = await _time(partial(history.list, _SOME, 100, page.cursor))
    took["one call"] = await _time(partial(history.get, page.calls[-1].id, "default"))
    rare = len((await history.list(_FILTERS["caller of five calls"], 100, None)).calls)
    size = sum(file.stat().st_size for file in home.folder.glob("ledger.history.db*")) / 1e6
    kept = f"{made.seconds / _CALLS * 1e6:.1f} µs of this process each" + (f", {size:.0f} MB" if size else "")
    return Finding(
        "durable",
        f"{home.kind}: {_CALLS:,} calls of {_TOOLS} tools and {_CALLERS} callers in the history; lists of 100",
        f"each question within {_LIST:g} ms",
        f"{kept}; {_write(took)}; all of the rare caller: {rare}",
        rare == _CALLS // 200_000,
        max(took.values()) <= _LIST,
    )


async def _sum_up(home: Deployment, history: History) -> Finding:
    every, own = CallFilter("default"), CallFilter("default", caller="caller 1")
    parts: list[list[SummaryPart]] = [*([part] for part in _PARTS), ["name", "kind"]]
    asked: dict[str, tuple[list[SummaryPart], CallFilter]] = {",".join(by): (by, every) for by in parts}
    asked |= {"name,kind of a caller": (["name", "kind"], own)}
    took = {text: await _time(partial(history.summarize, by, wanted)) for text, (by, wanted) in asked.items()}
    total = (await history.summarize(["name"], every)).total
    return Finding(
        "durable",
        f"{home.kind}: summaries of these calls, over {_DAYS} days",
        f"each within {_SUMMARY:g} ms, and none is missing",
        f"{_write(took)}; {total.calls:,} calls, {total.errors:,} errors",
        total.calls == _CALLS,
        max(took.values()) <= _SUMMARY,
    )


async def _time(ask: Callable[[], Awaitable[Any]]) -> float:
    """Return the milliseconds that the middle one of seven took."""
    took = []
    for _ in range(7):
        began = time.perf_counter()
        await ask()
        took.append((time.perf_counter() - began) * 1000)
    return sorted(took)[3]


def _write(took: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {milliseconds:.1f} ms" for name, milliseconds in took.items())


def _forgets_during_calls(home: Deployment) -> Finding:
    """Serve that history with room for a tenth of it, and send calls meanwhile."""
    server = home.start(SIDECALL_MAX_HISTORY_CALLS=str(_CALLS // 10))
    took: list[float] = []
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            began = time.perf_counter()
            client.post("/tool_calls", json={"name": "echo", "args": {"mark": "a"}, "id": "1"}).raise_for_status()
            took.append((time.perf_counter() - began) * 1000)
        left = client.get("/tool_calls/summary", params={"by": "status"}).json()["total"]["calls"]
    took.sort()
    return Finding(
        "durable",
        f"{home.kind}: a server begins with {_CALLS:,} calls of which a tenth may be kept, and is called for 20 s",
        "no call waits for that; sums stay",
        f"{len(took)} calls, p50 {took[len(took) // 2]:.1f} ms, p99 {took[-len(took) // 100]:.1f} ms, longest "
        f"{took[-1]:.0f} ms; {left:,} calls are summed up",
        left >= _CALLS,
        took[-len(took) // 100] < 100,
    )


def _killed(home: Deployment) -> Finding:
    """Kill a server amid plain calls, and look which of those that were answered are known."""
    server = home.start()
    answered: list[tuple[float, str]] = []
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        until = time.monotonic() + 5
        while time.monotonic() < until:
            answer = client.post("/tool_calls", json={"name": "echo", "args": {"mark": "a"}, "id": "1"})
            answered.append((time.monotonic(), answer.json()["id"]))
    home.kill(server)
    killed = time.monotonic()
    again = home.start()
    with httpx.Client(base_url=again.url, trust_env=False, timeout=60) as client:
        lost = [moment for moment, call_id in answered if client.get(f"/tool_calls/{call_id}").status_code != 200]
    window = killed - min(lost, default=killed)
    return Finding(
        "durable",
        f"{home.kind}: SIGKILL amid plain calls, and a start",
        "only calls of the last second are not in the history",
        f"{len(answered)} calls were answered, {len(lost)} are not there, the first of them {window:.2f} s old",
        len(answered) > len(lost),
        window <= 1.0,
    )

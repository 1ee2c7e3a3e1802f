"""Twelve minutes of every kind of traffic: each answer is judged, and what the processes hold is looked at."""

import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import uvloop

from tests.kit.callers.keys import write_keys
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.postgres import find_programs, running
from tests.kit.servers import Server
from trials.finding import Finding
from trials.serving import serving
from trials.soak import members
from trials.soaking import calls, files, over_mcp, reads, remembered
from trials.soaking.guest import Act, Guest, Odd, Refused

ACTS: Mapping[str, tuple[int, Act]] = {**calls.ACTS, **remembered.ACTS, **over_mcp.ACTS, **files.ACTS, **reads.ACTS}
_TOOLS = "trials/served/plain.py,trials/served/soaked.py"
_MINUTES = float(os.environ.get("SOAK_MINUTES", "12"))
_SHORT_MINUTES = _MINUTES / 4
_CLIENTS, _FEW = 16, 4
# What a client waits between two requests at most, in seconds: the machine has others, too.
_PAUSE = 0.05
_EVERY = 2.0
_SETTLING = 3.0
# Caches, pools and databases fill in the first minutes; from then on this much may come, in parts of the whole.
_FILLING = 0.34
_GROWTH = 0.1
_SETTINGS = {
    "SIDECALL_AUTH": "api_key",
    "SIDECALL_SECRETS_KEY": SECRETS_KEY,
    "SIDECALL_TOOLKITS": "files,python,shell,file_search",
    "SIDECALL_PROCESSES": "2",
    "SIDECALL_APPROVAL_TTL": "20",
}
_SCOPES = {
    "ann": ("tools:call", "calls:read"),
    "boss": ("*",),
    "reader": (),
}


@dataclass
class _Report:
    """What was done, refused for lack of room, or odd, and the memory of the processes, by the second."""

    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)
    held: list[tuple[float, float]] = field(default_factory=list)


def run() -> Iterator[Finding]:
    """Soak a server on SQLite, two workers, and a server on PostgreSQL."""
    yield from _soak("SQLite", _MINUTES)
    yield from _soak("SQLite, two workers", _SHORT_MINUTES, "--workers", "2")
    programs = find_programs()
    if programs is not None:
        with running(programs) as cluster:
            store = cluster.address(cluster.make_database())
            yield from _soak("PostgreSQL", _SHORT_MINUTES, SIDECALL_STORE=store)


def run_shortly() -> Iterator[Finding]:
    """Do each thing for a few seconds."""
    yield next(_soak("SQLite", 0.1, clients=_FEW))


def _soak(what: str, minutes: float, *options: str, clients: int = _CLIENTS, **settings: str) -> Iterator[Finding]:
    with _serving(*options, **settings) as (server, callers):
        told = uvloop.run(_press(server, callers, clients, minutes * 60))
    yield _all_right(what, told, clients, minutes)
    yield _flat(what, told)


@contextmanager
def _serving(*options: str, **settings: str) -> Iterator[tuple[Server, Mapping[str, Mapping[str, str]]]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        known = write_keys(folder / "keys.jsonl", _SCOPES)
        wanted = {
            "SIDECALL_KEYS_FILE": str(folder / "keys.jsonl"),
            "SIDECALL_STORE": f"sqlite:///{folder / 'ledger.db'}",
            **_SETTINGS,
            **settings,
        }
        server = stack.enter_context(serving(_TOOLS, *options, **wanted))
        yield server, {**known, "nobody": {}, "wrong": {"Authorization": "Bearer sidecall_wrong"}}


async def _press(server: Server, callers: Mapping[str, Mapping[str, str]], clients: int, seconds: float) -> _Report:
    told, end = _Report(), time.monotonic() + seconds
    guests = [Guest(server.port, callers, Random(number)) for number in range(clients)]
    asking = asyncio.gather(*(_visit(guest, told, end) for guest in guests))
    began = time.monotonic()
    while not asking.done():
        told.held.append((time.monotonic() - began, _held_mb(server.pid)))
        await asyncio.wait([asking], timeout=_EVERY)
    await asking
    await asyncio.sleep(_SETTLING)
    told.held.append((time.monotonic() - began, _held_mb(server.pid)))
    return told


async def _visit(guest: Guest, told: _Report, end: float) -> None:
    names, weights = list(ACTS), [weight for weight, _ in ACTS.values()]
    # Each thing is done, also in a short time.
    plan = guest.dice.sample(names, len(names))
    while time.monotonic() < end or plan:
        name = plan.pop() if plan else guest.dice.choices(names, weights)[0]
        try:
            await ACTS[name][1](guest)
        except Refused:
            told.refused[name] += 1
        except Exception as error:
            told.odd[f"{name}: {error if isinstance(error, Odd) else repr(error)}"] += 1
            guest.close()
        told.done[name] += 1
        await asyncio.sleep(guest.dice.uniform(0, _PAUSE))
    guest.close()


def _held_mb(pid: int) -> float:
    """Return what a process and those below it hold; what they have in common counts once."""
    return sum(map(_pss_mb, members(pid)))


def _pss_mb(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0) * 1024 / 1e6


def _all_right(what: str, told: _Report, clients: int, minutes: float) -> Finding:
    odd = "; ".join(f"{count} {text}" for text, count in told.odd.most_common(5))
    refused = ", ".join(f"{count} of {name}" for name, count in told.refused.most_common(5))
    return Finding(
        "long soak",
        f"{what}: {len(told.done)} kinds of traffic on {clients} connections for {minutes:g} minutes",
        "each answer has the status, shape and value that it should have",
        f"{told.done.total():,} times; no room: {refused or 'never'}; odd: {odd or 'none'}",
        not told.odd,
    )


def _flat(what: str, told: _Report) -> Finding:
    last = told.held[-1][0] - _SETTLING
    early = _median_between(told.held, last * _FILLING, last * (_FILLING + 0.1))
    late = _median_between(told.held, last * 0.9, last)
    return Finding(
        "long soak",
        f"{what}: memory of all processes, each 2 minutes and at the end",
        f"in the last tenth at most {_GROWTH:.0%} more than after the first third",
        f"{_write_course(told.held)} MB; {early:.1f} MB, then {late:.1f} MB",
        holds=True,
        in_time=late <= early * (1 + _GROWTH),
    )


def _median_between(held: Sequence[tuple[float, float]], first: float, last: float) -> float:
    found = sorted(mb for second, mb in held if first <= second <= last) or [held[-1][1]]
    return found[len(found) // 2]


def _write_course(held: Sequence[tuple[float, float]]) -> str:
    marks = [next(mb for second, mb in held if second >= mark) for mark in range(0, int(held[-1][0]) + 1, 120)]
    return ", ".join(f"{mb:.0f}" for mb in (*marks, held[-1][1]))

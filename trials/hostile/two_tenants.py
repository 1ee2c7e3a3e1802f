"""Two tenants send each other's ids, broken requests and requests made of the document, on one server, at once."""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path

import httpx
import uvloop

from tests.kit.callers.requests import GATES
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.servers import Server
from trials.finding import Finding
from trials.hostile.fuzz import Tally, fuzz, sum_up
from trials.hostile.mutations import Attempt, attempt_with
from trials.hostile.tenants import Tenant, plant_two, write_as, write_two
from trials.schemathesis import Conformance, conform
from trials.serving import serving

REQUESTS = int(os.environ.get("TENANTS_REQUESTS", "100000"))
_SHORTLY = 600
_CONNECTIONS, _FEW = 48, 8
_LEFT_OPEN = 300
_EXAMPLES = max(2, REQUESTS // 1600)
TOOLS = "trials/served/typed.py,trials/served/asking.py"
# So that nothing is refused for want of room, which would be a 503 in its place.
_ROOM = {
    "SIDECALL_MAX_APPROVALS": "100000",
    "SIDECALL_MAX_QUEUED_JOBS": "100000",
    "SIDECALL_MAX_WAIT": "1",
}  # fmt: skip


def run_shortly() -> Iterator[Finding]:
    """Try some hundred requests of each, without Schemathesis."""
    with _serving() as (server, tenants):
        tally = Tally()
        uvloop.run(_fuzz_both(server, tenants, tally, _SHORTLY, _FEW, 0))
        yield _judge(server, tenants, tally, [])


def run() -> Iterator[Finding]:
    """Try S8 and S1 with credentials: the raw fuzzer and Schemathesis as each tenant, at the same time."""
    with _serving() as (server, tenants):
        before, began = server.resident_mb(), time.monotonic()
        tally, found = uvloop.run(_both(server, tenants))
        grown, seconds = server.resident_mb() - before, time.monotonic() - began
        asked = tally.requests + sum(conformance.requests for conformance in found)
        finding = _judge(server, tenants, tally, found)
    yield finding
    yield Finding(
        "S8",
        f"{asked:,} requests in {seconds:.0f} s",
        f"{REQUESTS:,} requests; the server takes at most 50 MB more",
        f"{grown:+.0f} MB",
        asked >= REQUESTS,
        grown <= 50,
    )


@contextmanager
def _serving() -> Iterator[tuple[Server, tuple[Tenant, Tenant]]]:
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys.jsonl"
        known = write_two(keys)
        settings = {
            "SIDECALL_AUTH": "api_key",
            "SIDECALL_KEYS_FILE": str(keys),
            "SIDECALL_SECRETS_KEY": SECRETS_KEY,
            "SIDECALL_STORE": f"sqlite:///{folder}/ledger.db",
        }
        with serving(TOOLS, **settings, **_ROOM) as server:
            yield server, plant_two(server.url, known)


async def _both(server: Server, tenants: tuple[Tenant, Tenant]) -> tuple[Tally, list[Conformance]]:
    tally = Tally()
    beside = [
        conform(server, _EXAMPLES, number, ours.headers, theirs.canary)
        for number, (ours, theirs) in enumerate(permutations(tenants), 1)
    ]
    asked = asyncio.gather(*beside)
    await _fuzz_both(server, tenants, tally, REQUESTS, _CONNECTIONS, _LEFT_OPEN)
    return tally, list(await asked)


async def _fuzz_both(
    server: Server, tenants: tuple[Tenant, Tenant], tally: Tally, requests: int, connections: int, left_open: int
) -> None:
    """Let both send on connections of their own, at once; the numbers of the one are even."""
    tallies = [Tally(judge=_find_foreign(theirs)) for _, theirs in permutations(tenants)]
    await asyncio.gather(
        *(
            fuzz(server.port, each, requests // 2, connections // 2, left_open, _make_as(ours, theirs, parity))
            for parity, (each, (ours, theirs)) in enumerate(zip(tallies, permutations(tenants), strict=True))
        )
    )
    for parity, each in enumerate(tallies):
        tally.requests += each.requests
        tally.statuses += each.statuses
        tally.bad |= {2 * seed + parity: what for seed, what in each.bad.items()}


def _make_as(ours: Tenant, theirs: Tenant, parity: int) -> Callable[[int], Attempt]:
    write = write_as(ours, theirs)
    return lambda seed: attempt_with(2 * seed + parity, write)


def _find_foreign(theirs: Tenant) -> Callable[[bytes], str]:
    canary = theirs.canary.encode()
    return lambda received: "a record of another tenant" if canary in received else ""


def _judge(server: Server, tenants: tuple[Tenant, Tenant], tally: Tally, found: list[Conformance]) -> Finding:
    crashed = server.log.count("Traceback")
    lists = [_read_lists(server, tenant) for tenant in tenants]
    strayed = sum(theirs.canary in text for text, (_, theirs) in zip(lists, permutations(tenants), strict=True))
    kept = all(ours.canary in text for text, ours in zip(lists, tenants, strict=True))
    beside = "".join(f"; {conformance}" for conformance in found)
    return Finding(
        "S8",
        f"{tally.requests:,} broken requests of two tenants, most about what is the other's"
        + ("; Schemathesis as each beside them" if found else ""),
        "no 5xx, hang, traceback, error that is no problem, or record of the other tenant",
        f"{sum_up(tally)}{beside}; {crashed} tracebacks; {strayed} lists with what is another's",
        kept and not (tally.bad or crashed or strayed) and all(conformance.holds for conformance in found),
    )


def _read_lists(server: Server, tenant: Tenant) -> str:
    """Return all that a tenant can list."""
    paths = [gate.path for gate in GATES if gate.method == "GET" and "{" not in gate.path]
    with httpx.Client(base_url=server.url, headers=tenant.headers, trust_env=False, timeout=60) as client:
        return "".join(client.get(path).text for path in paths)

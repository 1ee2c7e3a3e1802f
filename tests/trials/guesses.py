"""Somebody who guesses ids of another tenant's calls learns nothing from how long the answers take."""

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from uuid import uuid4

import uvloop

from tests.kit.callers.keys import write_keys
from tests.kit.lines import Answer, Line, call, get
from tests.trials.finding import Finding
from tests.trials.serving import serving

_SCOPES = ("tools:call", "calls:read")
_CALLS, _ROUNDS = 20, 100


def run_shortly() -> Iterator[Finding]:
    """Guess a few times."""
    yield from _try(4)


def run() -> Iterator[Finding]:
    """Guess often enough to tell a few microseconds from noise."""
    yield from _try(_ROUNDS)


def _try(rounds: int) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "keys.jsonl"
        keys = {tenant: write_keys(path, {"agent": _SCOPES}, tenant)["agent"] for tenant in ("a", "b")}
        with serving(SIDECALL_AUTH="api_key", SIDECALL_KEYS_FILE=str(path)) as server:
            theirs, made_up, again = uvloop.run(_guess(server.port, keys, rounds))
    yield _compare(theirs, made_up, again)


async def _guess(port: int, keys: Mapping[str, Mapping[str, str]], rounds: int) -> tuple[list[Answer], ...]:
    """Ask in turns for calls of the other tenant, for such as there are not, and for others of those."""
    line = Line(port)
    kept = [await line.ask(_as(keys["a"], _remembered())) for _ in range(_CALLS)]
    ids = [answer.json["id"] for answer in kept]
    # As one who guesses would: made at the same time, with the same beginning.
    near = [[f"{known[:24]}{uuid4().hex[-12:]}" for known in ids] for _ in range(2)]
    asked: tuple[list[Answer], ...] = ([], [], [])
    for _ in range(rounds):
        for guesses in zip(ids, *near, strict=True):
            for answers, guess in zip(asked, guesses, strict=True):
                answers.append(await line.ask(_as(keys["b"], get(f"/tool_calls/{guess}"))))
    line.close()
    await asyncio.sleep(0)
    return asked


def _remembered() -> bytes:
    return call("add_inline", a=1, b=2).replace(b"host:", b"prefer: wait=10\r\nhost:", 1)


def _as(headers: Mapping[str, str], request: bytes) -> bytes:
    return request.replace(b"host:", f"authorization: {headers['Authorization']}\r\nhost:".encode(), 1)


def _compare(theirs: Sequence[Answer], made_up: Sequence[Answer], again: Sequence[Answer]) -> Finding:
    first, *others = (median(answer.seconds for answer in answers) * 1e6 for answers in (theirs, made_up, again))
    noise = abs(others[0] - others[1])
    said = {(answer.status, answer.kind) for answers in (theirs, made_up, again) for answer in answers}
    return Finding(
        "guesses",
        f"{len(theirs):,} guesses at ids of another tenant's calls, in turns with twice as many ids that there are not",
        "all 404 unknown-call; the medians differ by at most 5 %, or by what the two of the others do",
        f"{', '.join(f'{status} {kind}' for status, kind in sorted(said))}; {first:.1f} µs, and of what there is not "
        f"{others[0]:.1f} and {others[1]:.1f} µs",
        said == {(404, "unknown-call")},
        abs(first - median(others)) <= max(noise, 0.05 * median(others)),
    )

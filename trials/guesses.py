"""Guessing ids of another tenant's objects reveals nothing by the time of the answers."""

import asyncio
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from uuid import uuid4

import uvloop

from tests.kit.callers.keys import write_keys
from tests.kit.lines import Answer, Line, call, get, post
from trials.finding import Finding
from trials.serving import serving

_THINGS, _ROUNDS, _FEW_ROUNDS = 20, 100, 4
_SEED = 1
# The guessed kinds of objects, and the answer for unknown ones.
_KINDS = {
    "/tool_calls/": "unknown-call",
    "/approvals/": "unknown-approval",
    "/contents/": "unknown-content",
}
# Of the same thing: the answers about another tenant's, and twice about what there is not.
Answers = tuple[list[Answer], list[Answer], list[Answer]]


def run_shortly() -> Iterator[Finding]:
    """Guess a few times."""
    yield from _try(_FEW_ROUNDS)


def run() -> Iterator[Finding]:
    """Guess often enough to tell a few microseconds from noise."""
    yield from _try(_ROUNDS)


def _try(rounds: int) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "keys.jsonl"
        keys = {tenant: write_keys(path, {"agent": ("*",)}, tenant)["agent"] for tenant in ("a", "b")}
        settings = {"SIDECALL_AUTH": "api_key", "SIDECALL_KEYS_FILE": str(path)}
        with serving("trials/served/plain.py,trials/served/typed.py", **settings) as server:
            found = uvloop.run(_guess(server.port, keys, rounds))
    for place, answers in found.items():
        yield _compare(place, *answers)


async def _guess(port: int, keys: Mapping[str, Mapping[str, str]], rounds: int) -> Mapping[str, Answers]:
    line, found = Line(port), {}
    for place in _KINDS:
        ids = [await _plant(line, place, number, keys["a"]) for number in range(_THINGS)]
        found[place] = await _ask_in_turns(line, place, ids, keys["b"], rounds)
    line.close()
    await asyncio.sleep(0)
    return found


async def _plant(line: Line, place: str, number: int, headers: Mapping[str, str]) -> str:
    if place == "/tool_calls/":
        made = call("add_inline", a=1, b=2).replace(b"host:", b"prefer: wait=10\r\nhost:", 1)
    else:
        made = call("approved", amount=number) if place == "/approvals/" else post("/contents", {"number": number})
    return str((await line.ask(_as(headers, made))).json["id"])


async def _ask_in_turns(line: Line, place: str, ids: Sequence[str], headers: Mapping[str, str], rounds: int) -> Answers:
    """Ask for things of the other tenant, for such as there are not, and for others of those, in changing order."""
    # As one who guesses would: made at the same time, with the same beginning.
    near = [[f"{known[:-12]}{uuid4().hex[-12:]}" for known in ids] for _ in range(2)]
    asked: Answers = ([], [], [])
    dice = random.Random(_SEED)
    for _ in range(rounds):
        for guesses in zip(ids, *near, strict=True):
            for index in dice.sample(range(3), 3):
                asked[index].append(await line.ask(_as(headers, get(f"{place}{guesses[index]}"))))
    return asked


def _as(headers: Mapping[str, str], request: bytes) -> bytes:
    return request.replace(b"host:", f"authorization: {headers['Authorization']}\r\nhost:".encode(), 1)


def _compare(place: str, theirs: Sequence[Answer], made_up: Sequence[Answer], again: Sequence[Answer]) -> Finding:
    usual = median(answer.seconds for answer in (*made_up, *again))
    more = _more(theirs, made_up) / usual, _more(theirs, again) / usual
    noise = abs(_more(made_up, again)) / usual
    said = {(answer.status, answer.kind) for answers in (theirs, made_up, again) for answer in answers}
    return Finding(
        "guesses",
        f"{len(theirs):,} guesses at ids of another tenant below {place}, in turns with two that there are not",
        f"all 404 {_KINDS[place]}; the medians of the pairs differ by at most 1 %, or by what the two of the others do",
        f"{', '.join(f'{status} {kind}' for status, kind in sorted(said))}; of what there is not {usual * 1e6:.1f} µs, "
        f"of another's {more[0]:+.2%} and {more[1]:+.2%} of it; the two of the others differ by {noise:.2%}",
        said == {(404, _KINDS[place])},
        abs(sum(more)) / 2 <= max(noise, 0.01),
    )


def _more(first: Sequence[Answer], second: Sequence[Answer]) -> float:
    """Return by how many seconds the first took longer, pair by pair."""
    return median(one.seconds - other.seconds for one, other in zip(first, second, strict=True))

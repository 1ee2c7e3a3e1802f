"""One caller floods; what becomes of it, and of another."""

import asyncio
from collections.abc import Iterator, Sequence
from statistics import median

import uvloop

from bench.rounds import milliseconds, percentile
from tests.kit.lines import Answer, call, steadily
from trials.finding import Finding
from trials.judging import is_success, tally
from trials.serving import serving

_HEADER = "X-Forwarded-User"
# Calls a second: what one caller may make, what the flood makes, and what the other caller makes.
_QUOTA, _FLOOD, _OTHER = 20, 200, 18
_SECONDS = 4.0
_ROUNDS = 6
_TOLD = ("ratelimit", "ratelimit-policy", "retry-after")

Rounds = Sequence[Sequence[Answer]]


def run_shortly() -> Iterator[Finding]:
    """Try what becomes of the caller that floods, for a second."""
    with serving(SIDECALL_CALLER_HEADER=_HEADER, SIDECALL_RATE_LIMIT=f"{_QUOTA}/second") as server:
        yield _flooder(uvloop.run(_calls(server.port, "flooder", _FLOOD, 1)), 1, 1)


def run() -> Iterator[Finding]:
    """Try B5."""
    with serving(SIDECALL_CALLER_HEADER=_HEADER, SIDECALL_RATE_LIMIT=f"{_QUOTA}/second") as server:
        calm, beside, flood = uvloop.run(_in_turns(server.port))
    yield _flooder([answer for answers in flood for answer in answers], _ROUNDS, _SECONDS)
    yield _neighbor(calm, beside)


async def _in_turns(port: int) -> tuple[Rounds, Rounds, Rounds]:
    """Measure the other caller alone and during the flood, in turns."""
    calm: list[list[Answer]] = []
    beside: list[list[Answer]] = []
    flood: list[list[Answer]] = []
    await _calls(port, "other", _OTHER)  # so that everything has been used once
    for _ in range(_ROUNDS):
        calm.append(await _calls(port, "other", _OTHER))
        served, flooded = await asyncio.gather(_calls(port, "other", _OTHER), _calls(port, "flooder", _FLOOD))
        beside.append(served)
        flood.append(flooded)
    return calm, beside, flood


async def _calls(port: int, caller: str, rate: float, seconds: float = _SECONDS) -> list[Answer]:
    request = call("add_inline", a=1, b=2).replace(b"host:", f"{_HEADER}: {caller}\r\nhost:".encode(), 1)
    return await steadily(port, request, 1 / rate, seconds)


def _flooder(answers: Sequence[Answer], rounds: int, seconds: float) -> Finding:
    refused = [answer for answer in answers if answer.status == 429]
    let_in = sum(map(is_success, answers))
    told = sum(all(name in answer.headers for name in _TOLD) for answer in refused)
    # Each round has what was saved and what comes back during it; it may end a little late.
    most = rounds * _QUOTA * (1 + seconds) * 1.05
    return Finding(
        "B5",
        f"a caller with a quota of {_QUOTA} calls a second makes {_FLOOD}, for {rounds} times {seconds:g} s",
        f"at most {most:.0f} let in; the others are 429 with RateLimit, RateLimit-Policy and Retry-After",
        f"{tally(answers)}; {told:,} of {len(refused):,} refusals have all three headers",
        let_in + len(refused) == len(answers) and told == len(refused) > 0,
        0 < let_in <= most,
    )


def _neighbor(calm: Rounds, beside: Rounds) -> Finding:
    alone, crowded = (median(_p99s(rounds)) for rounds in (calm, beside))
    every = [answer for rounds in (calm, beside) for answers in rounds for answer in answers]
    served = sum(map(is_success, every))
    return Finding(
        "B5",
        f"another caller makes {_OTHER} calls a second, beside the flood and without it, in turns",
        "none rejected; p99, the median of the rounds, at most 20 % above that without the flood",
        f"{served} of {len(every)} served; p99 {milliseconds(crowded)}, without the flood {milliseconds(alone)}: "
        f"{crowded / alone - 1:+.0%}",
        served == len(every),
        crowded <= 1.2 * alone,
    )


def _p99s(rounds: Rounds) -> list[float]:
    return [percentile([answer.seconds for answer in answers], 0.99) for answers in rounds]

"""Servers that end at chosen points: between a tool's effect and its answer, and while an approval is being decided.

A point is a number of interpreter events, counted from the start of the code under test. Points are spread evenly until
the answer is written.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.kit.servers import CLIENT, Server
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

_POINTS = 20
_DECISION = "edited "
_MOMENT = 0.2
# PostgreSQL is shared by servers that may be silent for two minutes before their decided calls count as lost.
_LONGEST = 200.0


def run_shortly() -> Iterator[Finding]:
    """Try some points on a file."""
    with homes("sqlite") as found:
        for home in found:
            yield _answered(home, "add", points=2)
            home.stop()
            yield _decided(home, points=2)


def run() -> Iterator[Finding]:
    """Try B11, and decisions, on a file and a database."""
    with homes("sqlite", "postgres") as found:
        for home in found:
            yield from _try_all(home, _POINTS)


def _try_all(home: Deployment, points: int) -> Iterator[Finding]:
    yield _answered(home, "put", points)
    home.stop()
    yield _answered(home, "add", points)
    home.stop()
    yield _decided(home, points)
    home.stop()


@dataclass
class _Tried:
    """A call whose server was to end: whether it was answered before that, and its later answers."""

    mark: str
    was_answered: bool
    end_after: int | None = None
    answers: list[dict[str, Any]] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    @property
    def is_single(self) -> bool:
        """Whether all its answers are equal."""
        return len(self.answers) == 2 and self.answers[0] == self.answers[1]

    @property
    def outcome(self) -> str:
        """How it ended, in a word."""
        if not self.answers:
            return "lost"
        said = self.answers[0]
        return str(said["response_metadata"].get("error", {}).get("kind") or said["status"])


def _answered(home: Deployment, tool: str, points: int) -> Finding:
    """Let the server end after the effect of a keyed call, and send that again with its key."""
    events = _measure_answer(home, tool)
    tried = []
    for number in range(points):
        mark = f"{tool} {number}"
        server = home.start()
        end_after = _spread(number, points, 0, events)
        tried.append(_Tried(mark, _send(server, tool, mark, end_after) is not None, end_after))
        home.kill(server)
    server = home.start()
    for one in tried:
        _ask_twice(one, server, tool)
    effects = home.effects
    few = [one for one in tried if tool == "put" and effects[one.mark] < 1]
    many = [one for one in tried if tool == "add" and effects[one.mark] != 1]
    wrong = [one for one in tried if one.outcome not in ("success", "outcome_unknown")]
    wrong += [one for one in tried if tool == "put" and one.outcome != "success"]
    bar = "≥ 1 execution and 1 answer" if tool == "put" else "1 execution; success or outcome_unknown"
    return Finding(
        "B11",
        f"{home.kind}: SIGKILL at {points} points of the {events:,} events between what {_name(tool)} tool did and its "
        "answer, a start, and the same key again, twice",
        f"0 lost; each {bar}",
        f"{_sum_up(tried)}; {sum(effects[one.mark] for one in tried)} executions; {len(few)} without, {len(many)} with "
        f"too many, {len(wrong)} wrong",
        all(one.is_single for one in tried) and not (few or many or wrong),
    )


def _measure_answer(home: Deployment, tool: str) -> int:
    """Count the events from a tool's effect to its answer, without those of occasional background work."""
    server = home.start()
    events = []
    for number in range(5):
        _send(server, tool, f"{tool} before {number}", 0)
        events.append(home.events)
    home.kill(server)
    return min(events)


def _name(tool: str) -> str:
    return "an idempotent" if tool == "put" else "another"


def _sum_up(tried: Sequence[_Tried]) -> str:
    unheard = sum(not one.was_answered for one in tried)
    unlike = sum(not one.is_single for one in tried)
    outcomes = dict(Counter(one.outcome for one in tried))
    strange = [one.strange[0] for one in tried if one.strange]
    return f"{unheard} of {len(tried)} ended before the answer; {outcomes}; {unlike} lost or in two ways {strange[:1]}"


def _spread(number: int, points: int, first: int, last: int) -> int:
    return first + 1 + (last - first - 1) * number // points


def _send(server: Server, tool: str, mark: str, end_after: int | None = None) -> httpx.Response | None:
    """Send a call with its mark for a key; None where the server ends before it answers."""
    args = {"mark": mark} if end_after is None else {"mark": mark, "end_after": end_after}
    call = {"name": tool, "args": args, "id": mark}
    return _post(f"{server.url}/tool_calls", call, {"Idempotency-Key": mark})


def _post(url: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> httpx.Response | None:
    try:
        return CLIENT.post(url, json=body, headers=headers)
    except httpx.TransportError:
        return None


def _ask_twice(one: _Tried, server: Server, tool: str) -> None:
    until = time.monotonic() + _LONGEST
    while len(one.answers) < 2 and not one.strange and time.monotonic() < until:
        answer = _send(server, tool, one.mark, one.end_after)
        if answer is None or answer.status_code not in (httpx.codes.OK, httpx.codes.ACCEPTED):
            one.strange.append("none" if answer is None else f"{answer.status_code} {answer.text[:200]}")
        elif answer.status_code == httpx.codes.OK:
            one.answers.append(answer.json())
        else:
            _decide(server, answer.headers["Location"], one.mark)
            time.sleep(_MOMENT)


def _decided(home: Deployment, points: int) -> Finding:
    """Let the server end while a decision with other arguments is on its way, and let the agent come again."""
    events = _measure_decision(home)
    tried = []
    for number in range(points):
        mark = f"pay {number}"
        server = home.start()
        waiting = _send(server, "pay", mark)
        assert waiting is not None
        _post(f"{server.url}/tool_calls", _light(f"light {number}", _spread(number, points, *events)))
        tried.append(_Tried(mark, _decide(server, waiting.headers["Location"], mark) is not None))
        home.kill(server)
    server = home.start()
    for one in tried:
        _ask_twice(one, server, "pay")
    effects = home.effects
    asked = [one for one in tried if effects[one.mark]]
    twice = [one for one in tried if effects[_DECISION + one.mark] > 1]
    wrong = [one for one in tried if not _is_right(one, effects[_DECISION + one.mark])]
    return Finding(
        "B11",
        f"{home.kind}: SIGKILL at {points} points of the {events[1] - events[0]:,} events of a decision with other "
        "arguments, a start, and the same key again, twice; what waits still is decided again",
        "0 lost; each runs once and says so, or at most once and is outcome_unknown; never with the first arguments",
        f"{_sum_up(tried)}; {sum(effects[_DECISION + one.mark] for one in tried)} executions; {len(twice)} ran twice, "
        f"{len(asked)} with the first arguments, {len(wrong)} wrong",
        all(one.is_single for one in tried) and not (asked or twice or wrong),
    )


def _is_right(one: _Tried, effects: int) -> bool:
    return effects == 1 if one.outcome == "success" else one.outcome == "outcome_unknown" and effects <= 1


def _measure_decision(home: Deployment) -> tuple[int, int]:
    """Return the events from a fuse's own answer to that of a decision."""
    server = home.start()
    waiting = _send(server, "pay", "pay first")
    assert waiting is not None
    _post(f"{server.url}/tool_calls", _light("light first", 0))
    first = home.events
    decided = _decide(server, waiting.headers["Location"], "pay first")
    assert decided is not None
    assert decided.status_code == httpx.codes.OK
    last = home.events
    home.kill(server)
    return first, last


def _light(mark: str, end_after: int) -> dict[str, Any]:
    return {"name": "light", "args": {"mark": mark, "end_after": end_after}, "id": mark}


def _decide(server: Server, place: str, mark: str) -> httpx.Response | None:
    decision = {"decision": "approve", "args": {"mark": _DECISION + mark}, "reason": "Half of it."}
    return _post(f"{server.url}{place}", decision)

"""Everything that callers do, right and wrong, in one mix."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random

from tests.kit.lines import Answer, Line, call, get, post
from trials.judging import is_refusal, is_success

# Does one thing on a line and returns what was wrong about the answer, or nothing.
Act = Callable[[Line, Random], Awaitable[str]]
# There was no room, and the client was told so.
_REFUSED = "refused"
_EVENTS = "text/event-stream"
_TOO_LARGE = b'{"name": "' + b"x" * 70_000 + b'"}'
_BAD_BODIES = (
    b"{",
    b"\xff\xfe",
    b'{"name": NaN}',
    b'"add"',
    b"[" * 1000,
    b'{"name": "add", "args": 5}',
    b'{"name": "add", "args": {}, "input": {}}',
)
_BATCH = [
    *({"name": "add", "args": {"a": 1, "b": 2}, "id": f"call_{number}"} for number in range(4)),
    {"name": "pause", "args": {"seconds": 0.01}, "id": "call_4"},
    {"name": "fail", "args": {"text": "no"}, "id": "call_5"},
    {"name": "nobody_has_this", "args": {}, "id": "call_6"},
    {"name": "add", "args": {"a": "one"}, "id": "call_7"},
]


@dataclass
class Load:
    """Count what was done, what there was no room for, and what went wrong."""

    done: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    wrong: Counter[str] = field(default_factory=Counter)


def _asking(request: bytes, is_right: Callable[[Answer], bool]) -> Act:
    async def act(line: Line, _: Random) -> str:
        return _complaint(await line.ask(request), is_right)

    return act


def _complaint(answer: Answer, is_right: Callable[[Answer], bool]) -> str:
    if is_refusal(answer):
        return _REFUSED
    if is_right(answer):
        return ""
    return answer.failure or f"{answer.status} {answer.body[:120]!r}"


def _failing(kind: str) -> Callable[[Answer], bool]:
    return lambda answer: answer.status == 200 and answer.kind == kind


def _is_found(answer: Answer) -> bool:
    return answer.status == 200


def _is_client_error(answer: Answer) -> bool:
    return 400 <= answer.status < 500 and answer.json.get("status") == answer.status


def _is_whole_batch(answer: Answer) -> bool:
    return answer.status == 200 and [said["tool_call_id"] for said in answer.json] == [asked["id"] for asked in _BATCH]


def _is_whole_stream(answer: Answer) -> bool:
    return answer.body.count(b"event: message") == 1 or b"event: problem" in answer.body


async def _send_badly(line: Line, chance: Random) -> str:
    return _complaint(await line.ask(post("/tool_calls", chance.choice(_BAD_BODIES))), _is_client_error)


async def _ask_for_nothing(line: Line, chance: Random) -> str:
    tool = f"nobody_has_{chance.randrange(10**9)}"
    return _complaint(await line.ask(call(tool)), _failing("unknown_tool"))


async def _read_at_length(line: Line, _: Random) -> str:
    """Call for more than fits, and fetch the whole, which may have made room for a newer one by then."""
    answer = await line.ask(call("tell_all", size=50_000))
    complaint = _complaint(answer, is_success)
    if complaint:
        return complaint
    kept = await line.ask(get(answer.json["response_metadata"]["artifact_url"]))
    return "" if kept.status == 404 or len(kept.body) >= 50_000 else f"{kept.failure or kept.status}, not the whole"


async def _pay(line: Line, chance: Random) -> str:
    """Ask for approval, and approve, reject or forget it."""
    asked = await line.ask(call("pay", amount=chance.randrange(10**9)))
    complaint = _complaint(asked, lambda answer: answer.status == 202)
    decision = chance.choice(("approve", "approve", "reject", ""))
    if complaint or not decision:
        return complaint
    decided = await line.ask(post(f"/approvals/{asked.json['id']}", {"decision": decision}))
    return _complaint(decided, _is_found)


def _leaving(request: bytes) -> Act:
    async def act(line: Line, chance: Random) -> str:
        await line.hang_up(request, chance.uniform(0.001, 0.05))
        return ""

    return act


# What is done, and how often in proportion.
ACTS: dict[str, tuple[int, Act]] = {
    "inline": (200, _asking(call("add_inline", a=1, b=2), is_success)),
    "thread": (200, _asking(call("add", a=1, b=2), is_success)),
    "async": (100, _asking(call("pause", seconds=0.005), is_success)),
    "process": (20, _asking(call("add_apart", a=1, b=2), is_success)),
    "batch": (40, _asking(post("/tool_calls/batch", _BATCH), _is_whole_batch)),
    "stream": (30, _asking(call("report", steps=20, accept=_EVENTS), _is_whole_stream)),
    "stream from a thread": (30, _asking(call("recite", steps=20, accept=_EVENTS), _is_whole_stream)),
    "tool error": (40, _asking(call("fail", text="no"), _failing("tool_error"))),
    "crash": (40, _asking(call("divide", a=1, b=0), _failing("execution_error"))),
    "bad arguments": (30, _asking(call("add", a="one", b=2), _failing("invalid_arguments"))),
    "timeout": (5, _asking(call("run_late"), _failing("timeout"))),
    "timeout in a thread": (5, _asking(call("run_late_in_thread"), _failing("timeout"))),
    "timeout in a process": (3, _asking(call("run_late_apart"), _failing("timeout"))),
    "large result": (40, _read_at_length),
    "approval": (40, _pay),
    "bad body": (40, _send_badly),
    "large body": (5, _asking(post("/tool_calls", _TOO_LARGE), _is_client_error)),
    "unknown tool": (30, _ask_for_nothing),
    "hang-up, async": (10, _leaving(call("pause", seconds=1.0))),
    "hang-up, thread": (5, _leaving(call("doze", seconds=0.1))),
    "hang-up, process": (3, _leaving(call("doze_apart", seconds=1.0))),
    "hang-up, stream": (10, _leaving(call("report", steps=5000, accept=_EVENTS))),
    "GET /tools": (30, _asking(get("/tools"), _is_found)),
    "GET /tools/add": (10, _asking(get("/tools/add"), _is_found)),
    "GET /metrics": (5, _asking(get("/metrics"), _is_found)),
    "GET /approvals": (5, _asking(get("/approvals"), _is_found)),
}


async def press(port: int, clients: int, seconds: float) -> Load:
    """Do all this on so many connections, as fast as answers come."""
    load = Load()
    end = time.monotonic() + seconds
    await asyncio.gather(*(_client(Line(port), Random(number), end, load) for number in range(clients)))
    return load


async def _client(line: Line, chance: Random, end: float, load: Load) -> None:
    names = list(ACTS)
    weights = [weight for weight, _ in ACTS.values()]
    while time.monotonic() < end:
        name = chance.choices(names, weights)[0]
        complaint = await ACTS[name][1](line, chance)
        load.done[name] += 1
        if complaint == _REFUSED:
            load.refused += 1
        elif complaint:
            load.wrong[f"{name}: {complaint}"] += 1
    line.close()

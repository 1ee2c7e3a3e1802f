"""Servers that are told to end while jobs run, and how many jobs one carries out in a second."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator

import uvloop

from tests.kit.lines import Answer, Line
from trials.durable.clients import Clients, Sent
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding
from trials.judging import is_success, quantiles

_CONNECTIONS = 16


def run() -> Iterator[Finding]:
    """Try it on a file and a database, and measure."""
    with homes("sqlite", "postgres") as found:
        for home in found:
            yield _drained(home)
            home.stop()
            yield _fast(home, seconds=10.0)
            home.stop()


def _drained(home: Deployment) -> Finding:
    quick = [Sent("add", f"quick {number}") for number in range(20)]
    slow = [Sent(tool, f"slow {tool} {number}") for tool in ("put", "add") for number in range(20)]
    code, seconds = uvloop.run(_end_amid(home, quick, slow))
    statuses = {name: _count(sent) for name, sent in (("quick", quick), ("put", slow[:20]), ("add", slow[20:]))}
    twice = [one for one in (*quick, *slow[20:]) if home.effects[one.mark] > 1]
    none = [one for one in slow[:20] if home.effects[one.mark] < 1]
    return Finding(
        "durable",
        f"{home.kind}: SIGTERM with 20 jobs that end within the drain timeout of 3 s and 40 that do not, then a start",
        "the quick have succeeded; of the slow those of an idempotent tool run again, others have an unknown outcome",
        f"exit {code} after {seconds:.1f} s; {statuses}; {len(twice)} with two effects, {len(none)} without one",
        code == 0
        and statuses["quick"] == {"succeeded": 20}
        and statuses["put"] == {"succeeded": 20}
        and set(statuses["add"]) <= {"succeeded", "outcome_unknown"}
        and not (twice or none),
    )


def _count(sent: list[Sent]) -> dict[str, int]:
    return dict(Counter(one.ends[0]["status"] if one.ends else "lost" for one in sent))


async def _end_amid(home: Deployment, quick: list[Sent], slow: list[Sent]) -> tuple[int | None, float]:
    server = await asyncio.to_thread(home.start, SIDECALL_DRAIN_TIMEOUT="3")
    clients = Clients(lambda: server)
    await asyncio.gather(
        *(clients.send(one, 0.5, Prefer="respond-async") for one in quick),
        *(clients.send(one, 8.0, Prefer="respond-async") for one in slow),
    )
    began = server.terminate()
    code = await asyncio.to_thread(server.exit_code)
    seconds = time.monotonic() - began
    server = await asyncio.to_thread(home.start)
    await asyncio.gather(*(clients.follow(one) for one in (*quick, *slow)))
    await clients.client.aclose()
    return code, seconds


def _fast(home: Deployment, seconds: float) -> Finding:
    server = home.start()
    answers = uvloop.run(_call_for(server.port, seconds))
    done = sum(map(is_success, answers))
    return Finding(
        "durable",
        f"{home.kind}: jobs of a trivial tool, `Prefer: wait=10`, on {_CONNECTIONS} connections for {seconds:g} s",
        "each is accepted, run and answered",
        f"{done / seconds:.0f} a second; {quantiles(answers)}; {len(answers) - done} otherwise",
        done == len(answers),
    )


async def _call_for(port: int, seconds: float) -> list[Answer]:
    body = b'{"name": "echo", "args": {"mark": "a"}, "id": "1"}'
    head = "POST /tool_calls HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nprefer: wait=10\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    until = time.monotonic() + seconds
    answers: list[Answer] = []

    async def go_on() -> None:
        line = Line(port)
        while time.monotonic() < until:
            answers.append(await line.ask(request))
        line.close()

    await asyncio.gather(*(go_on() for _ in range(_CONNECTIONS)))
    return answers

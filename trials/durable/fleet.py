"""Three servers on one database: how soon each hears what happens at another, and who runs what one of them is sent."""

import asyncio
import time
from collections.abc import Iterator, Sequence

import httpx
import uvloop

from tests.kit.servers import Server
from trials.durable.clients import PATIENCE
from trials.durable.deployment import homes
from trials.durable.heard import TOOLS, connect, send, try_all, wait, warm_up
from trials.finding import Finding

_JOBS, _SECONDS = 30, 0.2
# Of the time that one server takes.
_PART = 0.45


def run_shortly() -> Iterator[Finding]:
    """Try it on a small scale."""
    yield from _try(times=3)


def run() -> Iterator[Finding]:
    """Try all of it."""
    yield from _try(times=200)


def _try(times: int) -> Iterator[Finding]:
    with homes("postgres") as found:
        for home in found:
            home.tools = TOOLS
            alone = uvloop.run(_time_jobs(home.start(SIDECALL_PROCESSES="1")))
            home.stop()
            # One that has ended is not waited for: it has announced that.
            servers = [home.start(SIDECALL_PROCESSES="1") for _ in range(3)]

            async def connect_all(servers: Sequence[Server] = servers) -> list[httpx.AsyncClient]:
                return [connect(server.url) for server in servers]

            warm_up(connect_all, len(servers))
            yield from try_all("fleet", "postgres, three servers", connect_all, times)
            yield _share(alone, uvloop.run(_time_jobs(servers[0])))


def _share(alone: float, together: float) -> Finding:
    return Finding(
        "fleet",
        f"postgres: {_JOBS} jobs that keep a process busy for {_SECONDS:g} s each are sent to one server, which has "
        "one process for them; then to one of three such",
        f"all succeed, in {_PART:g} of the time",
        f"{alone:.2f} s alone, {together:.2f} s with the others: {together / alone:.2f}",
        holds=True,
        in_time=together <= _PART * alone,
    )


async def _time_jobs(server: Server) -> float:
    """Send jobs to a server, and return how many seconds pass until all have succeeded."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        await wait(client, await send(client, "work", seconds=0.0))
        began = time.perf_counter()
        places = [await send(client, "work", seconds=_SECONDS) for _ in range(_JOBS)]
        ended = await asyncio.gather(*(wait(client, place) for place in places))
    assert {entry["status"] for entry in ended} == {"succeeded"}
    return time.perf_counter() - began

"""Leave agents elsewhere at the deadline, and time when they hear of it."""

import asyncio
import math
import time
from collections.abc import Iterator

from sidecall import remote_agent
from tests.features.remote_agents.agents import Heard, serving_agents
from tests.kit.calls import run as run_tool
from tests.kit.waiting import until
from trials.finding import Finding

# The shortest ones pass before the agent has named its task.
_DEADLINES = (0.02, 0.05, 0.1, 0.3)
_MOST_SECONDS = 1.0
_PATIENCE = 5.0


def run() -> Iterator[Finding]:
    """Ask over each binding, again and again."""
    yield from _try_all(5)


def run_shortly() -> Iterator[Finding]:
    """Ask once with each deadline."""
    yield from _try_all(1)


def _try_all(times: int) -> Iterator[Finding]:
    with serving_agents() as heard:
        for path, name in (("/rpc", "JSON-RPC with events"), ("/polled", "JSON-RPC, asked again"), ("/rest", "HTTP")):
            left = [asyncio.run(_leave(heard, path, deadline)) for deadline in _DEADLINES * times]
            late = [seconds for seconds in left if seconds is not None]
            forgotten = sum(seconds == math.inf for seconds in late)
            slowest = max((seconds for seconds in late if seconds < math.inf), default=0.0)
            yield Finding(
                "remote agents",
                f"{len(left)} calls of an A2A agent that does not answer, over {name}, left after 20 to 300 ms",
                "where it has begun, its task is cancelled at most 1 s after the deadline",
                f"{len(late)} had begun, {forgotten} of them were not cancelled; {slowest * 1000:.0f} ms at most",
                holds=bool(late) and not forgotten,
                in_time=slowest <= _MOST_SECONDS,
            )


async def _leave(heard: Heard, path: str, deadline: float) -> float | None:
    """Return how long after the deadline the agent heard of it; None: it had not begun, and infinity: it did not."""
    agent = remote_agent("agent", heard.url + path, description="Waits.", timeout=deadline)
    cancelled, begun_before = len(heard.cancelled), len(heard.texts)
    begun = time.perf_counter()
    call = asyncio.create_task(run_tool(agent, {"input": "wait"}))
    try:
        await until(lambda: len(heard.cancelled) > cancelled, _PATIENCE)
        late = time.perf_counter() - begun - deadline
    except TimeoutError:
        late = math.inf
    await call
    return late if len(heard.texts) > begun_before else None

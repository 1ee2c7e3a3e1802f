"""Leave agents elsewhere at the deadline, and time when they hear of it."""

import asyncio
import time
from collections.abc import Iterator

from sidecall import remote_agent
from tests.authoring.remote.agents import Heard, serving_agents
from tests.kit.calls import run as run_tool
from tests.kit.waiting import until
from tests.trials.finding import Finding

_DEADLINE = 0.3
_MOST_SECONDS = 1.0


def run() -> Iterator[Finding]:
    """Ask over each binding, again and again."""
    yield from _try_all(5)


def run_shortly() -> Iterator[Finding]:
    """Ask once."""
    yield from _try_all(1)


def _try_all(times: int) -> Iterator[Finding]:
    with serving_agents() as heard:
        for path, name in (("/rpc", "JSON-RPC with events"), ("/polled", "JSON-RPC, asked again"), ("/rest", "HTTP")):
            late = [asyncio.run(_leave(heard, path)) for _ in range(times)]
            yield Finding(
                "remote agents",
                f"{times} calls of an A2A agent that does not answer, over {name}",
                "its task is cancelled at most 1 s after the deadline",
                f"{max(late) * 1000:.0f} ms after it at most",
                holds=True,
                in_time=max(late) <= _MOST_SECONDS,
            )


async def _leave(heard: Heard, path: str) -> float:
    """Return how long after the deadline the agent has heard that its task is cancelled."""
    agent = remote_agent("agent", heard.url + path, description="Waits.", timeout=_DEADLINE)
    before = len(heard.cancelled)
    begun = time.perf_counter()
    call = asyncio.create_task(run_tool(agent, {"input": "wait"}))
    await until(lambda: len(heard.cancelled) > before)
    late = time.perf_counter() - begun - _DEADLINE
    await call
    return late

"""Calls of the tools that take their time."""

from concurrent.futures import Future, ThreadPoolExecutor

import httpx

from bench.environments import ROOT
from tests.kit.servers import Server

PLACE = str(ROOT / "tests/e2e/slow_tools.py")


def body(name: str, seconds: float) -> dict[str, object]:
    """Write a call."""
    return {"name": name, "args": {"seconds": seconds}, "id": "call_1"}


def send(threads: ThreadPoolExecutor, server: Server, *calls: tuple[str, float]) -> list[Future[httpx.Response]]:
    """Send calls that go on, and return once all have begun."""
    url = f"{server.url}/tool_calls"
    sent = [threads.submit(httpx.post, url, json=body(*call), timeout=60) for call in calls]
    server.wait_for(f"begun: {len(calls)}.")
    return sent

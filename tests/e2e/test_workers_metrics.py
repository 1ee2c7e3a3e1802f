"""`GET /metrics` tells of all workers, and of those that are gone."""

import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.e2e.slow_calls import PLACE, body, send
from tests.kit.servers import CLIENT, Server, total

STARTED = re.compile(r"Started server process \[(\d+)\]")
# What the log says of a worker that was killed.
KILLED = "was ended by SIGKILL, as by a limit of memory (exit code 137)"
CALLS = 12


@pytest.fixture(scope="module")
def server(start_server: Serve) -> Server:
    """Serve with several workers."""
    server = start_server("--tools", PLACE, "--workers", "2")
    server.wait_until(lambda log: len(STARTED.findall(log)) >= 2)
    return server


def call_often(server: Server) -> None:
    """Call on new connections, which reach either worker."""
    for _ in range(CALLS):
        CLIENT.post(f"{server.url}/tool_calls", json=body("nap", 0), headers={"Connection": "close"})


def count(server: Server, name: str, *labels: str) -> float:
    """Add up what a scrape says of a metric."""
    return total(server.metrics(), name, *labels)


def test_one_page_has_the_counts_of_all_workers(server: Server) -> None:
    """Each scrape says the same, no matter which worker answers it."""
    before = count(server, "sidecall_calls_total", 'tool="nap"')
    call_often(server)

    assert {count(server, "sidecall_calls_total", 'tool="nap"') - before for _ in range(5)} == {CALLS}
    assert count(server, "sidecall_call_duration_seconds_count", 'tool="nap"') == before + CALLS
    assert count(server, "sidecall_requests_total", 'route="/tool_calls"', 'status="200"') == before + CALLS


def test_numbers_of_a_process_are_told_apart_and_gauges_joined(server: Server) -> None:
    """Room is added up; tools, of which each worker has the same, are not."""
    metrics = server.metrics()
    workers = {number for series in metrics for number in re.findall(r'worker="(\d+)"', series)}

    assert workers == set(STARTED.findall(server.log)[:2])
    assert len([series for series in metrics if series.startswith("process_resident_memory_bytes{")]) == 2
    assert metrics["sidecall_workers"] == 2
    assert metrics['sidecall_executor_size{executor="thread"}'] == 64
    assert metrics["sidecall_tools"] == len(CLIENT.get(f"{server.url}/tools").json())
    assert metrics["sidecall_store_usable"] == 1
    assert metrics['sidecall_build_info{version="0.1.0"}'] == 1


def test_calls_that_run_anywhere_are_counted(server: Server) -> None:
    """More of them than one worker has taken."""
    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, *[("nap", 3)] * 4)
        while count(server, "sidecall_calls_in_flight", 'tool="nap"') < 4:
            pass
        for answer in sent:
            answer.result()

    assert count(server, "sidecall_calls_in_flight", 'tool="nap"') == 0


def test_calls_that_run_anywhere_are_listed_and_cancelled(server: Server) -> None:
    """No matter which worker is asked; the client of each gets its answer from its own."""
    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, *[("nap", 30)] * 4)
        running: list[dict[str, Any]] = []
        while len(running) < 4:
            running = ask(server, "GET", "/tool_calls?status=running")
        alike = [{it["id"] for it in ask(server, "GET", "/tool_calls?status=running")} for _ in range(6)]
        ended = [ask(server, "POST", f"/tool_calls/{it['id']}/cancel")["status"] for it in running]
        kinds = [answer.result().json()["response_metadata"]["error"]["kind"] for answer in sent]

    assert alike == [{it["id"] for it in running}] * 6
    assert {it["worker"] for it in running} <= {int(number) for number in STARTED.findall(server.log)}
    assert (ended, kinds) == (["cancelled"] * 4, ["cancelled"] * 4)
    assert ask(server, "GET", "/tool_calls?status=running") == []


def ask(server: Server, method: str, path: str) -> Any:
    """Ask on a new connection."""
    return CLIENT.request(method, f"{server.url}{path}", headers={"Connection": "close"}, timeout=30).json()


def test_the_counts_of_a_worker_that_was_killed_stay(server: Server) -> None:
    """At once, and together with those of its successor."""
    call_often(server)
    names = ("sidecall_calls_total", "sidecall_call_duration_seconds_count", "sidecall_call_duration_seconds_sum")
    before = {name: count(server, name, 'tool="nap"') for name in names}
    killed = int(STARTED.findall(server.log)[0])
    os.kill(killed, signal.SIGKILL)
    server.wait_for(f"worker {killed} {KILLED}; another one takes its place")
    after = {name: count(server, name, 'tool="nap"') for name in names}
    server.wait_until(lambda log: len(STARTED.findall(log)) >= 3 and log.count("Application startup complete.") >= 3)
    call_often(server)

    assert after == pytest.approx(before)
    assert count(server, "sidecall_calls_total", 'tool="nap"') == before["sidecall_calls_total"] + CALLS


def test_a_worker_that_stands_still_is_counted_all_the_same(server: Server) -> None:
    """What it says of itself is missing, and its counts are not."""
    call_often(server)
    before = count(server, "sidecall_calls_total", 'tool="nap"')
    stopped = int(STARTED.findall(server.log)[1])
    os.kill(stopped, signal.SIGSTOP)
    try:
        with httpx.Client(base_url=server.url, timeout=1, headers={"Connection": "close"}) as client:
            page = None
            while page is None:  # Some connections are those of the one that stands still.
                try:
                    page = client.get("/metrics", timeout=8).text
                except httpx.TimeoutException:
                    continue
    finally:
        os.kill(stopped, signal.SIGCONT)

    lines = [line for line in page.splitlines() if line.startswith("sidecall_calls_total{") and 'tool="nap"' in line]
    assert sum(float(line.rpartition(" ")[2]) for line in lines) == before
    assert "sidecall_workers 1.0" in page

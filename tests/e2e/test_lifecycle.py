"""A real server starts, drains and ends as an orchestrator needs it."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.e2e.slow_calls import PLACE, body, send
from tests.kit.events import events_in
from tests.kit.lines import ask_once
from tests.kit.lines import call as write_request
from tests.kit.servers import CLIENT, Server

# Seconds in which a server that ends still serves; calls of the test come in the first half.
GRACE = 4


async def test_no_call_is_lost(start_server: Serve) -> None:
    """A hundred calls in flight and those that still arrive are answered, none by a reset connection."""
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_GRACE=str(GRACE))
    outcomes: Counter[object] = Counter()
    late: list[asyncio.Task[None]] = []

    async def call(client: httpx.AsyncClient, seconds: float) -> None:
        try:
            response = await client.post(f"{server.url}/tool_calls", json=body("nap", seconds))
            outcomes[response.status_code, response.json()["content"]] += 1
        except httpx.HTTPError as error:
            outcomes[repr(error)] += 1

    async def call_afresh() -> None:
        answer = await ask_once(server.port, write_request("nap", seconds=0.01))
        outcomes[answer.status or answer.failure, answer.content] += 1

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=60, limits=limits) as client, asyncio.TaskGroup() as group:
        for _ in range(100):
            group.create_task(call(client, 2))
        await asyncio.to_thread(server.wait_for, "begun: 100.")
        end = server.terminate() + GRACE / 2
        while len(late) < 40 and time.monotonic() < end:
            late.append(group.create_task(call_afresh()))
            late.append(group.create_task(call(client, 0.01)))
            await asyncio.sleep(0.05)

    assert late
    assert outcomes == {(200, "slept"): 100 + len(late)}
    assert await asyncio.to_thread(server.process.wait, 20) == 0
    assert "Traceback" not in server.log


def test_readiness_flips_while_calls_are_still_served(start_server: Serve) -> None:
    """A load balancer has the grace to notice; connections that are kept alive are given up one by one."""
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_GRACE="2")

    with httpx.Client(base_url=server.url) as kept:
        before = kept.get("/readyz")
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("Shutting down")
        served = kept.post("/tool_calls", json=body("nap", 0.01))
    afresh = CLIENT.get(f"{server.url}/readyz")
    alive = CLIENT.get(f"{server.url}/healthz")

    assert before.status_code == 200
    assert "Connection" not in before.headers
    assert served.json()["content"] == "slept"
    assert served.headers["Connection"] == "close"
    assert afresh.status_code == 503
    assert afresh.headers["Content-Type"] == "application/problem+json"
    assert afresh.json()["detail"] == "It is draining; other requests in flight: 0."
    assert alive.status_code == 200
    assert server.process.wait(20) == 0


@pytest.mark.parametrize("name", ["nap", "insist", "block"])
def test_what_is_not_finished_is_answered(start_server: Serve, name: str) -> None:
    """With a 503 that may be repeated, no matter what the tool does about its cancellation; the exit code stays 0."""
    settings = {"SIDECALL_DRAIN_TIMEOUT": "0.2"}
    server = start_server("--tools", PLACE, **settings)

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, (name, 60), (name, 60))
        server.process.send_signal(signal.SIGTERM)
        answers = [call.result() for call in sent]

    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[0].headers["Content-Type"] == "application/problem+json"
    assert answers[0].headers["Retry-After"] == "1"
    assert answers[0].headers["Connection"] == "close"
    assert answers[0].headers["X-Request-Id"] == answers[0].json()["instance"]
    assert answers[0].json()["type"] == "urn:sidecall:problem:shutting-down"
    assert answers[0].json()["retryable"] is True
    assert server.process.wait(20) == 0
    server.wait_for("not finished in 0.2 s, and told to try again: requests in flight: 2")
    assert "Traceback" not in server.log


@pytest.mark.parametrize("name", ["nap", "insist", "block"])
def test_a_stream_that_is_not_finished_says_why(start_server: Serve, name: str) -> None:
    """Its answer ends as it should, with what has been answered, and the same problem for what has not."""
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_TIMEOUT="0.2")
    calls = [{**body("nap", 0.01), "id": "call_0"}, body(name, 60)]
    events = {"Accept": "text/event-stream"}

    with ThreadPoolExecutor() as threads:
        batch = threads.submit(httpx.post, f"{server.url}/tool_calls/batch", json=calls, headers=events, timeout=60)
        server.wait_for("begun: 2.")
        single = threads.submit(httpx.post, f"{server.url}/tool_calls", json=calls[1], headers=events, timeout=60)
        server.wait_for("begun: 3.")
        server.process.send_signal(signal.SIGTERM)
        told = [events_in(sent.result().text) for sent in (batch, single)]
    [(_, message), (kind, problem)], [last] = told

    assert (message["tool_call_id"], message["content"]) == ("call_0", "slept")
    assert (kind, problem["type"], problem["status"]) == ("error", "urn:sidecall:problem:shutting-down", 503)
    assert (problem["retryable"], problem["unanswered"]) == (True, ["call_1"])
    assert (last[0], last[1]["unanswered"]) == ("error", ["call_1"])
    assert server.process.wait(20) == 0
    assert "Traceback" not in server.log


def test_the_tools_that_are_not_finished_are_cancelled(start_server: Serve) -> None:
    """They may clean up."""
    settings = {"SIDECALL_DRAIN_TIMEOUT": "0"}
    server = start_server("--tools", PLACE, **settings)

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("nap", 60))
        server.process.send_signal(signal.SIGTERM)
        answer = sent[0].result()

    assert answer.status_code == 503
    assert server.process.wait(20) == 0
    server.wait_for("cancelled")
    server.wait_for("Application shutdown complete.")


def test_the_tools_that_ignore_their_end_are_named(start_server: Serve) -> None:
    """They hold up neither the stores nor the end of the process, whether or not a client waits for them."""
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_GRACE="0", SIDECALL_DRAIN_TIMEOUT="0.2")
    remembered = {"Prefer": "respond-async"}

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("insist", 60), ("block", 60))
        CLIENT.post(f"{server.url}/tool_calls", json=body("insist", 60), headers=remembered)
        server.wait_for("begun: 3.")
        server.process.send_signal(signal.SIGTERM)
        answers = [call.result().status_code for call in sent]

    assert answers == [503, 503]
    assert server.process.wait(20) == 0
    server.wait_for("abandoned, though their code goes on: calls of block (1), insist (2)")
    server.wait_for("Finished server process")
    assert "did not close" not in server.log
    assert "does not end by itself" not in server.log


def test_a_second_signal_ends_at_once(start_server: Serve) -> None:
    """A user who asks twice does not want to wait."""
    server = start_server("--tools", PLACE)

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("block", 5))
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("Shutting down")
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(20)
        error = sent[0].exception()

    assert code == 143
    assert isinstance(error, httpx.HTTPError)
    assert json.loads(server.log.splitlines()[-1])["event"] == "ended at once by a second signal"


def test_a_hang_up_ends_in_order(start_server: Serve) -> None:
    """A terminal that is closed may say so twice, and systemd beside a signal to end; neither means at once."""
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_GRACE="0")

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("nap", 0.5))
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("Shutting down")
        server.process.send_signal(signal.SIGHUP)
        code = server.process.wait(20)

    assert code == 0
    assert sent[0].result().json()["content"] == "slept"


def test_ctrl_c_takes_no_grace(start_server: Serve) -> None:
    """Nobody balances load on a desk; calls in flight are finished all the same."""
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_GRACE="600")

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("nap", 0.5))
        server.process.send_signal(signal.SIGINT)
        code = server.process.wait(20)

    assert code == 0
    assert sent[0].result().json()["content"] == "slept"


def test_a_call_that_nobody_waits_for_is_finished(start_server: Serve, tmp_path: Path) -> None:
    """It has the time that a request would have: more than stores and executors have to close."""
    ledger = tmp_path / "ledger.db"
    server = start_server("--tools", PLACE, SIDECALL_DRAIN_GRACE="0", SIDECALL_STORE=f"sqlite:///{ledger}")
    headers = {"Prefer": "respond-async"}
    accepted = CLIENT.post(f"{server.url}/tool_calls", json=body("nap", 7), headers=headers)

    server.terminate()
    code = server.process.wait(30)

    with closing(sqlite3.connect(ledger)) as connection:
        kept = connection.execute("SELECT status FROM calls").fetchall()
    assert (accepted.status_code, code, kept) == (202, 0, [("succeeded",)])
    assert "did not close" not in server.log
    assert "Traceback" not in server.log


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_server_that_still_starts_ends_at_once(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """Also as process 1 of a container, for which signals have no default."""
    (tmp_path / "slow.py").write_text("import time\n\nprint('loading', flush=True)\nwhile True:\n    time.sleep(0.1)\n")
    command = [sys.executable, "-m", "sidecall", "serve", "--port", "0", "--tools", str(tmp_path / "slow.py")]

    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        loading = process.stdout.readline()
        process.send_signal(number)
        ended = process.wait(20)

    assert loading == b"loading\n"
    assert ended == code


def is_answered(server: Server) -> bool:
    """Return whether the probe gets an answer in time."""
    try:
        CLIENT.get(f"{server.url}/healthz", timeout=0.1)
    except httpx.TimeoutException:
        return False
    return True


def test_what_blocks_the_event_loop_is_named(start_server: Serve) -> None:
    """The probe gets no answer, and the log says why, with the tool's stack; then all is well again."""
    server = start_server("--tools", PLACE, SIDECALL_STUCK_AFTER="0.3", SIDECALL_LOG_FORMAT="text")

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("freeze", 2))
        while is_answered(server):
            pass
        log = server.wait_for("EventLoopStuck")
        answer = sent[0].result()
    alive = CLIENT.get(f"{server.url}/healthz")

    assert "the event loop has been stuck for 0.3 s, and nobody is answered meanwhile" in log
    assert f'File "{PLACE}", line 65, in freeze' in log
    assert "asyncio/runners.py" not in log
    assert answer.json()["content"] == "slept"
    assert alive.status_code == 200
    assert "the event loop goes on, after " in server.wait_for("goes on")
    stuck = CLIENT.get(f"{server.url}/status").json()["process"]["event_loop_stuck_seconds"]
    assert stuck >= 0.5
    assert server.metrics()["sidecall_event_loop_stuck_seconds_total"] == pytest.approx(stuck)


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        (
            "SIDECALL_DRAIN_GRACE",
            "-1",
            "setting SIDECALL_DRAIN_GRACE: Input should be greater than or equal to 0; it is '-1'",
        ),
        ("SIDECALL_PROT", "80", "There is no setting SIDECALL_PROT; write SIDECALL_PORT."),
    ],
)
def test_a_wrong_setting_stops_the_start(variable: str, value: str, complaint: str) -> None:
    """It is named, before anything is loaded."""
    command = [sys.executable, "-m", "sidecall", "serve", "--tools", "nowhere.py"]
    environment = {**os.environ, variable: value}

    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)

    assert result.returncode == 1
    assert result.stderr == f"error: {complaint}\n"


def test_a_variable_that_is_no_setting_is_told(start_server: Serve) -> None:
    """It is no reason not to serve."""
    server = start_server("--tools", PLACE, SIDECALL_URL="http://127.0.0.1:8000")

    server.wait_for("SIDECALL_URL is not a setting of this version and changes nothing")

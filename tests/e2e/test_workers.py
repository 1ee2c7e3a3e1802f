"""Many worker processes serve and end as one."""

import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.e2e.slow_calls import PLACE, body, send
from tests.kit.forked import run_sidecall
from tests.kit.servers import CLIENT, Server

# What the log says of a worker that was killed.
KILLED = "was ended by SIGKILL, as by a limit of memory (exit code 137)"
ALLOWING = ("serve", "--allow-empty", "--port", "0", "--workers", "2", "--tools")

# In worker processes, long before anything of ours.
STARTING = """
import os, sys, time

if "--multiprocessing-fork" in sys.argv:
    os.write(1, b"starting\\n")
    time.sleep(60)
"""


def test_workers_drain_as_one_process_does(start_server: Serve) -> None:
    """Calls in flight are finished, what is left is answered, and each worker closes its application."""
    settings = {"SIDECALL_DRAIN_TIMEOUT": "4"}
    server = start_server("--tools", PLACE, "--workers", "2", **settings)

    with ThreadPoolExecutor() as threads:
        url = f"{server.url}/tool_calls"
        finished = threads.submit(httpx.post, url, json=body("nap", 1), timeout=60)
        left = threads.submit(httpx.post, url, json=body("nap", 60), timeout=60)
        server.wait_for("(1 s)")
        server.wait_for("(60 s)")
        server.process.send_signal(signal.SIGTERM)

    assert finished.result().json()["content"] == "slept"
    assert left.result().status_code == 503
    assert server.process.wait(20) == 0
    assert server.log.count("Application shutdown complete.") == 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_second_signal_ends_workers_at_once(start_server: Serve, number: signal.Signals, code: int) -> None:
    """The signals are passed on one by one."""
    server = start_server("--tools", PLACE, "--workers", "2")

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("block", 5))
        server.process.send_signal(number)
        server.wait_for("requests in flight: 1")
        server.process.send_signal(number)
        ended = server.process.wait(20)
        error = sent[0].exception()

    assert ended == code
    assert isinstance(error, httpx.HTTPError)


STARTED = re.compile(r"Started server process \[(\d+)\]")


def workers(server: Server) -> list[int]:
    """List the processes that have served so far, in the order of their start, once both have been."""
    log = server.wait_until(lambda log: len(STARTED.findall(log)) >= 2)
    return [int(number) for number in STARTED.findall(log)]


def test_workers_may_get_a_signal_twice(start_server: Serve) -> None:
    """From systemd or a terminal, which tell every process, and from their parent."""
    server = start_server("--tools", PLACE, "--workers", "2")
    first, second = workers(server)

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("nap", 1))
        for process in (first, second, server.process.pid):
            os.kill(process, signal.SIGTERM)
        code = server.process.wait(20)

    assert sent[0].result().json()["content"] == "slept"
    assert code == 0


def test_a_worker_that_is_killed_while_it_drains_is_a_failure(start_server: Serve) -> None:
    """Its calls are lost; the exit code is that of shells for SIGKILL, and the log says who it was."""
    server = start_server("--tools", PLACE, "--workers", "2")
    killed, other = workers(server)

    os.kill(killed, signal.SIGSTOP)
    server.process.send_signal(signal.SIGTERM)
    server.wait_for(f"Finished server process [{other}]")
    os.kill(killed, signal.SIGKILL)
    code = server.process.wait(20)

    assert code == 137
    server.wait_for(f"worker {killed} {KILLED}; what it had not answered is lost")
    assert f"worker {other}" not in server.log


def test_workers_that_still_start_end_at_once(tmp_path: Path) -> None:
    """Before they can handle a signal they die by it, which is no failure."""
    (tmp_path / "sitecustomize.py").write_text(STARTING)
    command = [sys.executable, "-m", "sidecall", "serve", "--port", "0", "--workers", "2", "--tools", PLACE]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        starting = parent.stdout.readline()
        parent.send_signal(signal.SIGTERM)
        _, log = parent.communicate(timeout=20)

    assert starting == b"starting\n"
    assert parent.returncode == 0
    assert b"killed" not in log


def test_workers_do_not_outlive_their_parent(start_server: Serve) -> None:
    """Else the next start would find its port taken; and they listen at no other address than they were told."""
    server = start_server("--tools", PLACE, "--workers", "2", "--host", "127.0.0.2")

    with socket.create_connection((server.host, server.port), timeout=20) as kept:
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = kept.recv(65536)
        server.process.send_signal(signal.SIGKILL)
        rest = b"".join(iter(lambda: kept.recv(65536), b""))

    assert server.url.startswith("http://127.0.0.2:")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert rest in (b"", b'{"status":"ok"}')
    assert server.log.count("Shutting down") >= 1


def test_a_worker_takes_the_place_of_one_that_died(start_server: Serve) -> None:
    """The others serve meanwhile; when those who were there at first are all dead, others serve."""
    server = start_server("--tools", PLACE, "--workers", "2")
    first, second = workers(server)
    os.kill(first, signal.SIGKILL)
    server.wait_for(f"worker {first} {KILLED}; another one takes its place")
    alive = CLIENT.get(f"{server.url}/healthz", timeout=20)
    os.kill(second, signal.SIGKILL)
    server.wait_for(f"worker {second} was ended by SIGKILL")

    with ThreadPoolExecutor() as threads:
        answer = send(threads, server, ("nap", 0))[0].result()

    assert alive.status_code == 200
    assert answer.json()["content"] == "slept"
    assert server.stop() == 0


def test_a_worker_that_drains_already_may_be_told_again(start_server: Serve) -> None:
    """By its parent, for instance; the call that it still runs is finished."""
    server = start_server("--tools", PLACE, "--workers", "2")

    with ThreadPoolExecutor() as threads:
        sent = send(threads, server, ("nap", 1.5))
        for process in workers(server):
            os.kill(process, signal.SIGTERM)
        server.wait_for("requests in flight: 1")
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(20)

    assert sent[0].result().json()["content"] == "slept"
    assert code == 0


def test_a_worker_that_does_not_end_is_ended(start_server: Serve) -> None:
    """Once all the time is over that the settings give it, and a little more."""
    server = start_server("--tools", PLACE, "--workers", "2", SIDECALL_DRAIN_TIMEOUT="0")
    stopped = workers(server)[0]
    os.kill(stopped, signal.SIGSTOP)
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(20)

    assert code == 137
    server.wait_for("workers do not end by themselves and are killed: 1")
    server.wait_for(f"worker {stopped} was ended by SIGKILL")


@pytest.mark.usefixtures("origin")
def test_a_port_that_is_taken_stops_workers_too(tmp_path: Path) -> None:
    """They listen at the port that was named, or not at all."""
    (tmp_path / "mine.py").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        places = ["--workers", "2", "--port", port, "--tools", str(tmp_path / "mine.py")]
        result = run_sidecall("serve", *places, cwd=ROOT)

    assert result.returncode == 3
    assert "Address already in use" in result.stderr


@pytest.mark.usefixtures("origin")
def test_workers_that_cannot_start_end_the_server(tmp_path: Path) -> None:
    """Others in their places could not either."""
    (tmp_path / "picky.py").write_text("import multiprocessing\n\nassert multiprocessing.parent_process() is None\n")

    result = run_sidecall(*ALLOWING, str(tmp_path / "picky.py"), cwd=ROOT)

    assert result.returncode == 1
    assert "could not start; the server ends" in result.stderr


@pytest.mark.usefixtures("origin")
def test_workers_that_die_before_they_serve_end_the_server(tmp_path: Path) -> None:
    """After a few starts; the program that only their parent is would look alive for ever."""
    (tmp_path / "fragile.py").write_text(
        "import multiprocessing, os, signal\n\n"
        "if multiprocessing.parent_process() is not None:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    result = run_sidecall(*ALLOWING, str(tmp_path / "fragile.py"), cwd=ROOT)

    assert result.returncode == 3
    assert 3 <= result.stderr.count(f"{KILLED}, before it served") <= 6
    assert "3 workers in a row ended before they served; the server ends" in result.stderr

"""Workers are replaced, waited for, and ended when they do not end."""

import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.e2e.slow_calls import PLACE, send
from tests.kit.servers import Server

STARTED = re.compile(r"Started server process \[(\d+)\]")


def workers(server: Server) -> list[int]:
    """List the processes that have served so far, in the order of their start."""
    return [int(number) for number in STARTED.findall(server.log)]


def test_a_worker_takes_the_place_of_one_that_died(start_server: Serve) -> None:
    """When those who were there at first are all dead, others serve."""
    server = start_server("--tools", PLACE, "--workers", "2")
    first, second = workers(server)
    os.kill(first, signal.SIGKILL)
    server.wait_for(f"worker {first} died")
    os.kill(second, signal.SIGKILL)
    server.wait_for(f"worker {second} died")

    with ThreadPoolExecutor() as threads:
        answer = send(threads, server, ("nap", 0))[0].result()

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
    assert "workers do not end by themselves and are killed: 1" in server.log
    assert f"worker {stopped} was killed by signal 9" in server.log


def test_workers_listen_where_they_are_told(start_server: Serve) -> None:
    """At the address, and at no other."""
    server = start_server("--tools", PLACE, "--workers", "2", "--host", "127.0.0.2")

    assert server.url.startswith("http://127.0.0.2:")


def test_a_port_that_is_taken_stops_workers_too(tmp_path: Path) -> None:
    """They listen at the port that was named, or not at all."""
    (tmp_path / "mine.py").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        places = ["--workers", "2", "--port", port, "--tools", str(tmp_path / "mine.py")]
        command = [sys.executable, "-m", "sidecall", "serve", *places]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)

    assert result.returncode == 3
    assert "Address already in use" in result.stderr


def test_workers_that_cannot_start_end_the_server(tmp_path: Path) -> None:
    """Others in their places could not either."""
    (tmp_path / "picky.py").write_text("import multiprocessing\n\nassert multiprocessing.parent_process() is None\n")
    command = [sys.executable, "-m", "sidecall", "serve", "--port", "0", "--workers", "2", "--tools"]

    result = subprocess.run(
        [*command, str(tmp_path / "picky.py")], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )

    assert result.returncode == 3
    assert "could not start; the server ends" in result.stderr

"""The server ends with exit code 0 and in time, no matter what hangs in it."""

import signal
import subprocess
import sys

import pytest

SCRIPT = """
import asyncio, sys, threading, time

import uvicorn

from sidecall.server.connection_limits import Connection
from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.request_reader import RequestRoom
from sidecall.server.graceful_shutdown import Server


async def app(scope, receive, send):
    await receive()
    await send({{"type": "lifespan.startup.complete"}})
    await receive()
    await at_shutdown()
    await send({{"type": "lifespan.shutdown.complete"}})


async def at_shutdown():
    {at_shutdown}


{before}
config = uvicorn.Config(app, port=0, http=Connection, ws="none", lifespan="on")
patience = Patience(drain_grace=0, drain_timeout=0)
room = RequestRoom(1_000_000)
Server(config, Lifecycle(), patience, 100, room, lambda: print("started", flush=True), is_worker=True).run()
print("returned", flush=True)
"""


def end(number: signal.Signals = signal.SIGTERM, at_shutdown: str = "pass", before: str = "") -> tuple[int, str, str]:
    """Run a server, end it with a signal, and return its exit code and what it printed."""
    script = SCRIPT.format(at_shutdown=at_shutdown, before=before)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(number)
        out, log = process.communicate(timeout=30)
    return process.returncode, out, log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_end_is_no_failure(number: signal.Signals) -> None:
    """It is not raised again after the server has ended, so the program goes on and exits with 0."""
    code, out, log = end(number)

    assert code == 0
    assert out == "returned\n"
    assert "Finished server process" in log


def test_a_store_that_does_not_close_does_not_hold_it_up() -> None:
    """After the answers are given, nothing is worth waiting for for long."""
    code, out, log = end(at_shutdown="await asyncio.sleep(60)")

    assert code == 0
    assert out == "returned\n"
    assert "the application did not close in 5 s" in log


def test_a_thread_that_goes_on_does_not_hold_it_up() -> None:
    """Python would wait for it before it leaves."""
    code, out, log = end(before="threading.Thread(target=time.sleep, args=(60,), name='hanging').start()")

    assert code == 0
    assert out == "returned\n"
    assert "the process does not end by itself and is ended; still running: MainThread, hanging" in log

"""`sidecall calls follow` goes on while its server is away."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import httpx

from bench.servers import plain_environment
from tests.kit.servers import start

TOOLS = '''
import asyncio

from sidecall import tool


@tool
async def look_up(order: str) -> str:
    """Look an order up."""
    return f"order {order}"


@tool
async def wait() -> str:
    """Wait for long."""
    await asyncio.sleep(1000)
    return "waited"
'''


def follow_until(printed: IO[str], url: str, name: str) -> None:
    """Send calls until one is printed that has been sent here."""
    while True:
        headers = {"Prefer": "respond-async"}
        sent = httpx.post(
            f"{url}/tool_calls", json={"name": name, "args": {"order": "1"}}, headers=headers, trust_env=False
        )
        place = sent.headers["Location"]
        while select.select([printed], [], [], 1.5)[0]:
            if json.loads(printed.readline())["id"] == place.rpartition("/")[2]:
                return


def test_calls_are_followed_over_a_restart(tmp_path: Path, origin: None) -> None:
    """With a line when the server is gone, and one when it is back; what it has forgotten is asked for no more."""
    (tmp_path / "mine.py").write_text(TOOLS)
    away = {"SIDECALL_DRAIN_TIMEOUT": "0"}
    first = start(tmp_path, "--tools", "mine.py", environment=away, cwd=tmp_path)
    command = [sys.executable, "-u", "-m", "sidecall", "calls", "follow", "--json", "--url", first.url]
    environment = {**os.environ, **plain_environment()}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            follow_until(process.stdout, first.url, "wait")
            first.stop()
            gone = process.stderr.readline()
            second = start(tmp_path, "--tools", "mine.py", "--port", str(first.port), environment=away, cwd=tmp_path)
            follow_until(process.stdout, second.url, "look_up")
            back = process.stderr.readline()
            second.stop()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)

    assert gone.startswith(f"{first.url} cannot be asked just now, and is tried again until Ctrl+C: ")
    assert back == f"{first.url} answers again.\n"
    assert process.returncode == 0

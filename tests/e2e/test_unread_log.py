"""Nobody has to read what a server logs and prints: it answers, and it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from bench.environments import ROOT
from bench.servers import plain_environment
from tests.kit.servers import end, read_metrics
from tests.kit.waiting import PATIENCE

TOOLS = '''
import os

from sidecall import tool


@tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
async def crash() -> None:
    """Crash."""
    raise ValueError("x" * 2000)


@tool
async def talk() -> str:
    """Print from the server."""
    for _ in range(300):
        print("y" * 1000)
    return "said"


@tool(executor="process")
def chat() -> str:
    """Print from a process, and from one that it starts."""
    for _ in range(300):
        print("z" * 1000)
    os.system("head -c 200000 /dev/zero | tr '\\\\0' z >&2")
    return "said"
'''
CRASHES = [{"name": "crash", "args": {}, "id": str(number)} for number in range(100)]
DROPPED = "sidecall_log_lines_dropped_total"
# Each such line stands where those that it counts would.
TOLD = rb'(\{[^\n]*nobody read stderr"[^\n]*)\n'
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Give a function that starts a server, its output in pipes."""
    started: list[subprocess.Popen[bytes]] = []
    (tmp_path / "mine.py").write_text(TOOLS)

    def start_one(*arguments: str, **settings: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "sidecall", "serve", "--tools", str(tmp_path / "mine.py"), *arguments]
        environment = {**plain_environment(), "SIDECALL_DRAIN_GRACE": "0", **settings}
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, bufsize=0))
        return started[-1]

    yield start_one
    for process in started:
        end(process)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def _read_until(process: subprocess.Popen[bytes], pattern: bytes) -> re.Match[bytes]:
    """Read no further than to the end of that line."""
    assert process.stderr is not None
    lines = iter(process.stderr.readline, b"")
    return next(found for line in lines if (found := re.search(pattern, line)))


def _read_all(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stderr is not None
    return process.stderr.read()


def _client_of(process: subprocess.Popen[bytes]) -> httpx.Client:
    url = _read_until(process, rb"running on (http://[^: ]+:\d+)")[1].decode()
    return httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False)


def _crash_a_thousand_times(client: httpx.Client) -> list[str]:
    batches = [client.post("/tool_calls/batch", json=CRASHES).json() for _ in range(10)]
    return [message["status"] for messages in batches for message in messages]


def test_a_server_whose_log_nobody_reads_answers_and_ends(start: Start) -> None:
    """What it drops beyond the setting `log_buffer_bytes` is counted, and said once somebody reads."""
    process = start("--port", "0", SIDECALL_LOG_BUFFER_BYTES="65536", SIDECALL_LOG_FORMAT="json")
    with _client_of(process) as client:
        assert _crash_a_thousand_times(client) == ["error"] * 1000
        for name in ("talk", "chat"):
            assert client.post("/tool_calls", json={"name": name, "args": {}}).json()["content"] == "said"
        assert client.get("/healthz").status_code == 200
        dropped = read_metrics(client.get("/metrics").text)[DROPPED]
        said = [json.loads(_read_until(process, TOLD)[1])]
        assert _crash_a_thousand_times(client) == ["error"] * 1000
    process.send_signal(signal.SIGTERM)
    said += map(json.loads, re.findall(TOLD, _read_all(process)))

    assert 1000 < dropped <= sum(line["dropped"] for line in said)
    assert {(line["level"], line["logger"]) for line in said} == {("warning", "sidecall")}
    assert all(line["event"] == f"{line['dropped']} lines dropped, since nobody read stderr" for line in said)
    assert process.wait(PATIENCE) == 0


def test_calls_are_answered_though_nobody_reads_their_lines(start: Start) -> None:
    """Those of calls that succeed, too; the ones that are missing are counted and told of."""
    settings = {"SIDECALL_LOG_BUFFER_BYTES": "65536", "SIDECALL_LOG_CALLS": "true", "SIDECALL_LOG_ARGS": "true"}
    process = start("--port", "0", SIDECALL_LOG_FORMAT="json", **settings)
    calls = [{"name": "echo", "args": {"text": "x" * 100}, "id": str(number)} for number in range(100)]
    with _client_of(process) as client:
        for _ in range(20):
            answers = client.post("/tool_calls/batch", json=calls).json()
            assert [answer["status"] for answer in answers] == ["success"] * 100
        dropped = read_metrics(client.get("/metrics").text)[DROPPED]
        told = 0
        while told < dropped:
            told += json.loads(_read_until(process, TOLD)[1])["dropped"]
    process.send_signal(signal.SIGTERM)

    assert dropped > 1000
    assert told == dropped
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_under_load_loses_no_line(start: Start, tmp_path: Path, workers: str) -> None:
    """Each call that was answered has its own, whole, beside those of other processes."""
    settings = {"SIDECALL_LOG_FORMAT": "json", "SIDECALL_LOG_CALLS": "true", "SIDECALL_DRAIN_TIMEOUT": "60"}
    process = start("--port", "0", "--workers", workers, **settings)
    call = {"name": "echo", "args": {"text": "x"}}
    answered: list[str] = []
    is_busy = threading.Event()

    def send(base: httpx.URL) -> None:
        with suppress(httpx.TransportError), httpx.Client(base_url=base, timeout=PATIENCE, trust_env=False) as client:
            while (answer := client.post("/tool_calls", json=call)).status_code == 200:
                answered.append(answer.json()["id"])
                if len(answered) == 400:
                    is_busy.set()

    with _client_of(process) as client, ThreadPoolExecutor(5) as threads:
        reading = threads.submit(_read_all, process)
        sending = [threads.submit(send, client.base_url) for _ in range(4)]
        assert is_busy.wait(PATIENCE), [it.done() for it in sending]
        process.send_signal(signal.SIGTERM)
    lines = [json.loads(line) for line in reading.result().splitlines()]
    logged = [line["invocation_id"] for line in lines if line["event"] == "tool call"]

    assert process.wait(PATIENCE) == 0
    assert sorted(set(answered) - set(logged)) == []
    assert len(logged) == len(set(logged))


def test_workers_whose_log_nobody_reads_answer_and_end(start: Start) -> None:
    """By default, so much is kept for a reader that nothing of this is lost."""
    process = start("--port", "0", "--workers", "2", SIDECALL_LOG_FORMAT="text")
    with _client_of(process) as client:
        assert _crash_a_thousand_times(client) == ["error"] * 1000
        assert read_metrics(client.get("/metrics").text)[DROPPED] == 0
    process.send_signal(signal.SIGTERM)

    assert process.wait(PATIENCE) == 0


def test_a_server_without_standard_streams_serves(start: Start, tmp_path: Path) -> None:
    """No connection lands where something is printed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = f"exec {sys.executable} -m sidecall serve --tools mine.py --port {port} <&- >&- 2>&-"
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=tmp_path, env=plain_environment() | {"SIDECALL_DRAIN_GRACE": "0"}
    )
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=100), timeout=PATIENCE) as client:
            for name, status in (("talk", "success"), ("chat", "success"), ("crash", "error")):
                answer = client.post(f"http://127.0.0.1:{port}/tool_calls", json={"name": name, "args": {}})
                assert answer.json()["status"] == status
        streams = [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3)]
        process.send_signal(signal.SIGTERM)

        assert streams == ["/dev/null"] * 3
        assert process.wait(PATIENCE) == 0
    finally:
        end(process)

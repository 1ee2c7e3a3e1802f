"""What may be set about tools in processes changes what becomes of their calls."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.kit.calls import kind_of, post
from tests.kit.servers import CLIENT, Server

TOOLS = '''
import os, resource, subprocess, time
from opentelemetry import trace
from sidecall import ToolContext, tool


@tool(executor="process")
def pid() -> int:
    """Say which process runs."""
    return os.getpid()


@tool(executor="process")
def take(megabytes: int) -> int:
    """Take memory."""
    return len(bytearray(megabytes * 1024**2))


@tool(executor="process", memory_limit_mb=512)
def take_much(megabytes: int) -> int:
    """Take memory, of which its author allows more."""
    return len(bytearray(megabytes * 1024**2))


@tool(executor="process", timeout=600)
def is_told_what_is_left(context: ToolContext) -> bool:
    """Look at the deadline."""
    return context.remaining is not None and 30 < context.remaining <= 600


@tool(executor="process")
def is_traced() -> bool:
    """Tell whether spans go anywhere."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


@tool(executor="process")
def dump() -> list[int]:
    """Say how large a core dump may be."""
    return list(resource.getrlimit(resource.RLIMIT_CORE))


@tool(executor="process")
def pause(seconds: float) -> None:
    """Keep its process busy."""
    time.sleep(seconds)


@tool(executor="process")
def die_after_a_line(file: str) -> None:
    """Have an effect, and end the process."""
    with open(file, "a") as written:
        written.write("once\\n")
    os._exit(1)


@tool(executor="process")
def leave_behind() -> int:
    """Start a process, and return before it ends."""
    return subprocess.Popen(["sleep", "600"]).pid


@tool(executor="process")
def shout() -> str:
    """Print something, by Python and below it."""
    print("printed by a tool", flush=True)
    os.write(1, b"written by a tool\\n")
    return "quiet"
'''


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the tools to a file."""
    file = tmp_path_factory.mktemp("tools") / "in_processes.py"
    file.write_text(TOOLS)
    return file


@pytest.fixture(scope="module")
def server(start_server: Serve, tools: Path) -> Server:
    """Serve them in one small process, with an environment that says where spans go."""
    settings = {"SIDECALL_PROCESSES": "1", "SIDECALL_MEMORY_LIMIT_MB": "64", "SIDECALL_OTEL": "off"}
    return start_server("--tools", str(tools), OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", **settings)


def said(server: Server, tool: str, **args: Any) -> Any:
    """Run a tool, and read what it returned as JSON."""
    return json.loads(post(server, tool, **args)["content"])


def metrics(server: Server) -> list[str]:
    """Read the numbers."""
    return CLIENT.get(f"{server.url}/metrics").text.splitlines()


def test_there_are_so_many_processes(server: Server) -> None:
    """All calls of a batch run in the one that there is, and so the second has to wait; that is counted."""
    calls = [{"name": "pid", "args": {}}] * 4
    answers = CLIENT.post(f"{server.url}/tool_calls/batch", json=calls, timeout=30).json()
    held = [{"name": "pause", "args": {"seconds": 0.05}}] * 2
    CLIENT.post(f"{server.url}/tool_calls/batch", json=held, timeout=30).raise_for_status()
    (waited,) = [line for line in metrics(server) if line.startswith('sidecall_queue_wait_seconds_sum{tool="pause"}')]

    assert len({answer["content"] for answer in answers}) == 1
    assert 'sidecall_executor_size{executor="process"} 1.0' in metrics(server)
    assert float(waited.split()[1]) > 0


def test_a_tool_may_take_as_much_as_the_server_says(server: Server) -> None:
    """And no more; a process in which that happened is replaced."""
    before = said(server, "pid")
    message = post(server, "take", megabytes=200)

    assert kind_of(message) == "execution_error"
    assert "MemoryError" in server.wait_for("MemoryError")
    assert said(server, "pid") != before


def test_a_tool_may_take_as_much_as_its_author_says(server: Server) -> None:
    """Also where that is more than the server's bound."""
    assert post(server, "take_much", megabytes=200)["content"] == "209715200"


def test_a_tool_in_a_process_knows_what_is_left(server: Server) -> None:
    """The deadline of its own call, not the server's."""
    assert said(server, "is_told_what_is_left") is True


def test_tracing_that_is_off_is_off_in_processes_too(server: Server) -> None:
    """No matter what the environment says about where spans go."""
    assert said(server, "is_traced") is False


def test_a_process_leaves_no_core_dump(server: Server) -> None:
    """It would hold what callers sent."""
    assert said(server, "dump") == [0, 0]


def test_a_call_that_ended_its_process_is_not_run_again(server: Server, tmp_path: Path) -> None:
    """Nobody said that it does no harm twice."""
    file = tmp_path / "effects"
    message = post(server, "die_after_a_line", file=str(file))

    assert kind_of(message) == "execution_error"
    assert file.read_text() == "once\n"


def test_what_a_tool_has_started_ends_with_the_server(start_server: Serve, tools: Path) -> None:
    """Though its call has long been answered."""
    server = start_server("--tools", str(tools), SIDECALL_PROCESSES="1")
    handle = os.pidfd_open(said(server, "leave_behind"))
    code = server.stop()
    ended, _, _ = select.select([handle], [], [], 20)
    os.close(handle)

    assert code == 0
    assert bool(ended)


def test_what_a_tool_prints_is_no_part_of_an_answer(tools: Path) -> None:
    """The command's output is the ToolMessage, for programs to read."""
    command = [sys.executable, "-m", "sidecall", "call", "--tools", str(tools), "shout"]

    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert json.loads(result.stdout)["content"] == "quiet"
    assert "printed by a tool\nwritten by a tool\n" in result.stderr

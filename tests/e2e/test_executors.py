"""A real server keeps its promises no matter what its tools do: hang, crash, take too much."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.environments import Unavailable
from tests.e2e.conftest import Serve
from tests.kit.calls import kind_of, post
from tests.kit.processes import has_ended, list_children
from tests.kit.servers import CLIENT, Server
from tests.kit.sockets import POST, connection

ABANDONED = 'sidecall_executor_abandoned{executor="thread"}'
TOOLS = '''
import asyncio, ctypes, os, subprocess, threading, time
from sidecall import ToolContext, tool


@tool(timeout=0.5)
def sleepy() -> None:
    """Sleep for long in a thread."""
    time.sleep(20)


@tool
async def quick() -> str:
    """Answer at once."""
    return "quick"


@tool
async def threads() -> int:
    """Count the threads of the pool."""
    return sum(thread.name.startswith("sidecall-tool") for thread in threading.enumerate())


@tool(executor="process")
def pid(context: ToolContext) -> int:
    """Say which process runs."""
    context.log.info("in process")
    print("printed by a tool")
    return os.getpid()


@tool(executor="process", timeout=2)
def endless(file: str) -> None:
    """Run for ever, and say where.

    Args:
        file: Where to say it.
    """
    with open(file, "w") as written:
        written.write(str(os.getpid()))
    while True:
        pass


@tool(executor="process", timeout=60)
def patient(fifo: str) -> None:
    """Say which process runs, and run for ever.

    Args:
        fifo: Whom to tell.
    """
    with open(fifo, "w") as written:
        written.write(str(os.getpid()))
    while True:
        pass


@tool(executor="process")
def stray() -> list[int]:
    """Start two processes in sessions of their own, the second of which nobody is the parent of, and say which."""
    shell = ["sh", "-c", "setsid sleep 1000 >&2 & echo $!"]
    return [subprocess.Popen(["sleep", "1000"], start_new_session=True).pid, int(subprocess.check_output(shell))]


@tool(executor="process")
def leave() -> None:
    """End the process."""
    os._exit(1)


@tool(executor="process")
def crash() -> None:
    """Read where nothing is."""
    ctypes.string_at(0)


@tool(executor="process", memory_limit_mb=256)
def greedy() -> int:
    """Take 2 GB."""
    return len(bytearray(2 * 1024**3))
'''

UNFIT = '''
from sidecall import BaseToolkit, tool


class Kit(BaseToolkit):
    """Tools that are made when they are asked for, and are others the second time."""

    asked: int = 0

    def get_tools(self):
        self.asked += 1

        @tool(f"inner_{self.asked}", executor="process")
        def inner() -> str:
            """Answer."""
            return "inner"

        return [inner]


kit = Kit()
'''


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a file with tools that misbehave."""
    file = tmp_path_factory.mktemp("tools") / "misbehaving.py"
    file.write_text(TOOLS)
    return file


@pytest.fixture(scope="module")
def server(start_server: Serve, tools: Path) -> Server:
    """Serve them with four threads and two processes."""
    return start_server("--tools", str(tools), SIDECALL_THREADS="4", SIDECALL_PROCESSES="2")


def test_a_tool_that_sleeps_too_long_is_answered_on_time(server: Server) -> None:
    """Its thread cannot be stopped, but nobody has to wait for it."""
    message = post(server, "sleepy")

    assert kind_of(message) == "timeout"
    assert message["content"] == "Error: sleepy timed out after 0.5 seconds."
    assert server.metrics()[ABANDONED] == 1


def test_stuck_threads_hold_up_nobody_else(start_server: Serve, tools: Path) -> None:
    """Twenty calls on four threads are all answered on time, and the pool does not grow."""
    server = start_server("--tools", str(tools), SIDECALL_THREADS="4", SIDECALL_PROCESSES="1")
    with ThreadPoolExecutor(20) as clients:
        sleeping = [clients.submit(post, server, "sleepy") for _ in range(20)]
        meanwhile = [post(server, "quick")["content"] for _ in range(20)]
        answers = [answer.result() for answer in sleeping]
    stuck = server.metrics()[ABANDONED]
    after = post(server, "threads")

    assert meanwhile == ["quick"] * 20
    assert [kind_of(message) for message in answers] == ["timeout"] * 20
    assert (stuck, after["content"]) == (4, "4")


def test_a_process_that_never_ends_is_killed_at_the_deadline(server: Server, tmp_path: Path) -> None:
    """And the next call finds another one."""
    file = tmp_path / "pid"
    message = post(server, "endless", file=str(file))
    again = post(server, "pid")

    assert kind_of(message) == "timeout"
    assert has_ended(int(file.read_text()))
    assert again["status"] == "success"


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("leave", "the tool's process ended with exit code 1"),
        ("crash", "the tool's process was ended by SIGSEGV"),
        ("greedy", "MemoryError"),
    ],
)
def test_a_process_that_dies_is_one_failed_call(server: Server, tool: str, reason: str) -> None:
    """The log says how it died; the next call finds another one."""
    message = post(server, tool)
    again = post(server, "pid")

    assert kind_of(message) == "execution_error"
    assert reason in server.wait_for(reason)
    assert again["status"] == "success"


def test_what_a_tool_prints_and_logs_comes_out_in_the_servers_log(server: Server) -> None:
    """There is no other place for it."""
    post(server, "pid")

    assert "printed by a tool" in server.wait_for("printed by a tool")
    assert "in process" in server.wait_for("in process")


def test_a_client_who_hangs_up_ends_the_process(server: Server, tmp_path: Path) -> None:
    """Nobody is left to tell."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    body = json.dumps({"name": "patient", "args": {"fifo": str(fifo)}, "id": "call_1"}).encode()
    with connection(server) as client:
        client.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        process = int(fifo.read_text())

    assert has_ended(process)


@pytest.mark.parametrize("killed", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_no_process_outlives_the_server(start_server: Serve, tools: Path, tmp_path: Path, killed: int) -> None:
    """Even when the server has no time to end them."""
    server = start_server("--tools", str(tools), SIDECALL_PROCESSES="2", SIDECALL_DRAIN_TIMEOUT="0.5")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    idle = int(post(server, "pid")["content"])
    with ThreadPoolExecutor(1) as thread:
        request = thread.submit(post, server, "patient", fifo=str(fifo))
        busy = int(fifo.read_text())
        server.process.send_signal(killed)
        request.exception()

    assert [has_ended(process) for process in (idle, busy)] == [True, True]


@pytest.mark.parametrize("killed", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_nothing_that_tools_have_started_outlives_the_server(start_server: Serve, tools: Path, killed: int) -> None:
    """No matter to which session it has fled."""
    server = start_server("--tools", str(tools), SIDECALL_PROCESSES="1")
    strays = json.loads(post(server, "stray")["content"])
    server.process.send_signal(killed)

    assert [has_ended(process) for process in strays] == [True, True]


def test_the_executor_of_a_tool_is_shown(server: Server) -> None:
    """As those of other tools are."""
    assert CLIENT.get(f"{server.url}/tools/pid").json()["executor"] == "process"


def test_tools_that_want_no_process_cost_none(shipped: Server) -> None:
    """The server that ships has no children."""
    assert list_children(shipped.process.pid) == []


def test_a_tool_that_cannot_run_in_a_process_stops_the_start(start_server: Serve, tmp_path: Path) -> None:
    """The message names the file, the tool and the reason."""
    file = tmp_path / "unfit.py"
    file.write_text(UNFIT)
    with pytest.raises(Unavailable, match=r"tool 'inner_\d' cannot have executor='process': neither the module"):
        start_server("--tools", str(file))

"""A real server answers, survives its tools, and stops in order."""

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.calls import write_call
from tests.kit.servers import CLIENT, Server

TOOLS = '''
import asyncio
import sys
import time
from pathlib import Path

from sidecall import Registry, ToolContext, tool


@tool
def sync_exit() -> str:
    """Leave."""
    sys.exit(3)


@tool
async def async_exit() -> str:
    """Leave."""
    sys.exit(3)


@tool
def sync_stop() -> str:
    """Stop."""
    raise StopIteration("stopped")


@tool
async def async_stop() -> str:
    """Stop."""
    raise StopIteration("stopped")


@tool
def sync_interrupt() -> str:
    """Interrupt."""
    raise KeyboardInterrupt


@tool
async def async_interrupt() -> str:
    """Interrupt."""
    raise KeyboardInterrupt


@tool
def recurse() -> str:
    """Recur."""
    return recurse()


@tool
def shout() -> str:
    """Print."""
    print("HTTP/1.1 500 shouted")
    return "said"


@tool
async def whisper(context: ToolContext) -> str:
    """Log."""
    context.log.info("whispered")
    return "said"


@tool
def turn() -> float:
    """Tell for how long a thread may compute while another one waits."""
    return sys.getswitchinterval()


@tool
def wait(file: str, context: ToolContext) -> str:
    """Wait for a file.

    Args:
        file: Its path.
    """
    context.log.info("waiting")
    while not Path(file).exists():
        time.sleep(0.01)
    return "waited"


async def bomb() -> str:
    """Schedule the end of what runs this, in every way."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    done.add_done_callback(lambda _: sys.exit(3))
    done.set_result(None)
    loop.call_soon(sys.exit, 3)
    loop.call_later(0.01, sys.exit, 3)
    loop.call_soon(interrupt)
    await asyncio.sleep(0.02)
    loop.call_soon(loop.stop)  # Later: what is raised in the same turn would hide it.
    await asyncio.sleep(0)
    await asyncio.sleep(0.02)
    loop.call_soon(sys.exit, 3)  # after this call
    return "planted"


def interrupt() -> None:
    raise KeyboardInterrupt


bombs = Registry([tool(f"bomb_{executor}", executor=executor)(bomb) for executor in ("inline", "process")])
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold tools that misbehave."""
    folder = tmp_path_factory.mktemp("serve")
    (folder / "mine.py").write_text(TOOLS)
    return folder


@pytest.fixture(scope="module")
def server(start_server: Serve, folder: Path) -> Server:
    """Serve them."""
    return start_server("--tools", "mine.py", cwd=folder)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("sync_exit", "SystemExit: 3"),
        ("async_exit", "SystemExit: 3"),
        ("sync_stop", "StopIteration: stopped"),
        ("async_stop", "coroutine raised StopIteration"),
        ("sync_interrupt", "KeyboardInterrupt"),
        ("async_interrupt", "KeyboardInterrupt"),
        ("recurse", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_a_tool_that_runs_amok_fails_one_call(server: Server, name: str, error: str) -> None:
    """The model gets a sentence, the operator the traceback, and the next caller an answer."""
    failed = CLIENT.post(f"{server.url}/tool_calls", json=write_call(name))
    alive = CLIENT.post(f"{server.url}/tool_calls", json=write_call("shout"))

    assert failed.status_code == 200
    assert failed.json()["status"] == "error"
    assert failed.json()["content"] == (
        f"Error: {name} failed unexpectedly (call call_1). The details are in the server's log."
    )
    assert alive.json()["content"] == "said"
    server.wait_for(f'"event":"tool failed","tool":"{name}","call_id":"call_1"')
    assert error in server.wait_for(error)


@pytest.mark.parametrize("executor", ["inline", "process"])
def test_what_a_tool_schedules_ends_nothing(server: Server, executor: str) -> None:
    """Neither its call, nor the next one there, nor the server; an operator sees what was tried."""
    answers = [CLIENT.post(f"{server.url}/tool_calls", json=write_call(f"bomb_{executor}")).json() for _ in range(2)]

    assert [answer["content"] for answer in answers] == ["planted", "planted"]
    server.wait_for("the event loop goes on, though a callback raised SystemExit")
    server.wait_for("the event loop goes on, though a tool stopped it")


def test_what_a_tool_prints_does_not_reach_the_answer(server: Server) -> None:
    """The answer is what it returned."""
    response = CLIENT.post(f"{server.url}/tool_calls?format=openai", json=write_call("shout"))

    assert response.status_code == 200
    assert response.json() == {"role": "tool", "tool_call_id": "call_1", "content": "said"}


def test_what_a_tool_logs_is_in_the_log(server: Server) -> None:
    """With its name and the id of the call."""
    CLIENT.post(f"{server.url}/tool_calls", json=write_call("whisper"))

    assert '"event":"whispered","tool":"whisper","call_id":"call_1"' in server.wait_for("whispered")


def test_threads_that_compute_let_the_event_loop_run_soon(server: Server) -> None:
    """Python's own five milliseconds would be added to an answer several times."""
    assert CLIENT.post(f"{server.url}/tool_calls", json=write_call("turn")).json()["content"] == "0.001"


def test_the_log_says_what_is_served_once_it_is(server: Server) -> None:
    """An operator sees at once whether the tools were found."""
    lines = server.wait_for("serving 13 tools").splitlines()
    begun = next(index for index, line in enumerate(lines) if "Uvicorn running on" in line)

    assert '"event":"serving 13 tools: sync_exit, async_exit, sync_stop, ' in lines[begun + 1]


def test_the_answer_says_nothing_about_the_server(server: Server) -> None:
    """Neither its kind nor its version; the request's id is there."""
    response = CLIENT.get(f"{server.url}/healthz", headers={"X-Request-Id": "req-1"})

    assert response.status_code == 200
    assert "Server" not in response.headers
    assert response.headers["X-Request-Id"] == "req-1"


def test_calls_run_while_a_tool_waits(server: Server, tmp_path: Path) -> None:
    """A sync tool that blocks holds a thread, not the server."""
    file = tmp_path / "file"

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(
            httpx.post, f"{server.url}/tool_calls", json=write_call("wait", file=str(file)), timeout=30
        )
        server.wait_for('"event":"waiting","tool":"wait"')
        other = CLIENT.post(f"{server.url}/tool_calls", json=write_call("whisper"))
        file.touch()

    assert other.json()["content"] == "said"
    assert waiting.result().json()["content"] == "waited"


def test_requests_are_not_logged_unless_debugging(start_server: Serve, server: Server, folder: Path) -> None:
    """Probes would fill the log."""
    talkative = start_server("--tools", "mine.py", cwd=folder, SIDECALL_LOG_LEVEL="debug")

    CLIENT.get(f"{server.url}/healthz?quiet")
    CLIENT.get(f"{talkative.url}/healthz?loud")

    assert 'GET /healthz?loud HTTP/1.1\\" 200' in talkative.wait_for("/healthz?loud")
    assert "/healthz?quiet" not in server.log


def test_calls_in_flight_are_answered_before_the_server_stops(
    start_server: Serve, folder: Path, tmp_path: Path
) -> None:
    """A rolling update loses no call."""
    server = start_server("--tools", "mine.py", cwd=folder)
    file = tmp_path / "file"

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(
            httpx.post, f"{server.url}/tool_calls", json=write_call("wait", file=str(file)), timeout=30
        )
        server.wait_for('"event":"waiting","tool":"wait"')
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("Shutting down")
        file.touch()

    assert waiting.result().json()["content"] == "waited"
    assert server.process.wait(20) == 0
    server.wait_for("Application shutdown complete.")
    assert "Traceback" not in server.log


def test_an_interrupted_server_leaves_without_a_complaint(start_server: Serve, folder: Path) -> None:
    """Ctrl+C is the usual way to stop it on a desk."""
    server = start_server("--tools", "mine.py", cwd=folder)

    server.process.send_signal(signal.SIGINT)
    code = server.process.wait(20)

    assert code == 0
    assert "Traceback" not in server.log


def test_many_workers_serve(start_server: Serve, folder: Path) -> None:
    """Each has the tools and the settings of the command line and of the environment."""
    server = start_server("--workers", "2", "--tools", "mine.py", cwd=folder, SIDECALL_MAX_BATCH="1")

    # Workers listen a moment after the log says so; connecting is tried again until they do.
    with httpx.Client(base_url=server.url, transport=httpx.HTTPTransport(retries=8)) as client:
        ready = client.get("/readyz").json()
        message = client.post("/tool_calls", json=write_call("whisper")).json()
        refused = client.post("/tool_calls/batch", json=[write_call("whisper"), write_call("whisper")])

    assert ready == {"status": "ready", "tools": 13}
    assert message["content"] == "said"
    assert refused.json()["detail"] == "The batch holds 2 calls; this server takes 1 at once."
    assert '"event":"whispered","tool":"whisper","call_id":"call_1"' in server.wait_for("whispered")
    assert server.stop() == 0
    assert server.log.count("Application shutdown complete.") == 2


def test_the_product_serves_as_it_ships(shipped: Server) -> None:
    """Without an option, with the tools of this repository."""
    response = CLIENT.get(f"{shipped.url}/readyz")

    assert response.status_code == 200
    assert response.json()["status"] == "ready"

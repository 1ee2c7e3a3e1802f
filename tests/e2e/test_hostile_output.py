"""A call is answered with a message, no matter what its tool returns or raises, and nothing else is harmed."""

import time

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.servers import CLIENT, Server

TOOLS = '''
import asyncio
import itertools
from typing import Any, Literal

from sidecall import Registry, ToolException, tool


SECRET = "hunter2"


class Unsayable:
    """Crash what prints it."""

    def __str__(self):
        raise RuntimeError(SECRET)

    __repr__ = __str__


class Crashing(RuntimeError):
    """Crash what prints it."""

    __str__ = __repr__ = Unsayable.__str__


def raise_(error):
    raise error


def nan() -> Any:
    """Return NaN."""
    return [float("nan")]


def cycle() -> Any:
    """Return a cycle."""
    found = []
    found.append(found)
    return found


def raw() -> Any:
    """Return bytes that are no text."""
    return b"\\xff\\xfe"


def unsayable() -> Any:
    """Return what cannot be printed."""
    return [Unsayable()]


def deep() -> Any:
    """Return 100,000 levels."""
    found = []
    for _ in range(100_000):
        found = [found]
    return found


def odd_keys() -> Any:
    """Return keys that are numbers, null and bytes."""
    return {1: "a", None: "b", b"x": "c"}


def torn() -> Any:
    """Crash between two parts."""
    yield "a"
    raise RuntimeError(SECRET)


def secret() -> Any:
    """Raise a secret."""
    raise RuntimeError("postgres://admin:" + SECRET)


def crashing() -> Any:
    """Raise what cannot be printed."""
    raise Crashing


def leave() -> Any:
    """Raise what ends programs."""
    raise SystemExit(SECRET)


def cancel() -> Any:
    """Raise what cancels tasks."""
    raise asyncio.CancelledError(SECRET)


FUNCTIONS = (nan, cycle, raw, unsayable, deep, odd_keys, torn, secret, crashing, leave, cancel)
worst = Registry(
    [
        tool(f"{function.__name__}_{executor}", executor=executor)(function)
        for function in FUNCTIONS
        for executor in ("inline", "thread", "process")
    ]
)


@tool
def long_failure() -> None:
    """Tell the model 5 MB."""
    raise ToolException("x" * 5_000_000)


@tool
def wrong_rows(rows: list[int]) -> None:
    """Take numbers."""


@tool(timeout=0.2)
def endless() -> Any:
    """Yield for ever."""
    yield from itertools.repeat("x")


@tool(response_format="content_and_artifact")
def artifact() -> tuple[str, Any]:
    """Return 10 MB beside a short content."""
    return "short", ["x" * 1000] * 10_000


@tool
def long() -> str:
    """Return 10 MB."""
    return "x" * 10_000_000
'''
ABANDONED = 'sidecall_executor_abandoned{executor="thread"} '


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Offer the worst tools."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "worst_tools.py").write_text(TOOLS)
    return start_server("--tools", "worst_tools.py", cwd=folder)


def call(server: Server, name: str, **args: object) -> httpx.Response:
    """Call a tool."""
    return CLIENT.post(f"{server.url}/tool_calls", json={"name": name, "args": args, "id": "call_1"}, timeout=20)


def abandoned(server: Server) -> str:
    """Wait until no thread is left with a call that nobody waits for, and return how many there are."""
    end = time.monotonic() + 20
    while True:
        metrics = CLIENT.get(f"{server.url}/metrics").text
        found = metrics.partition(ABANDONED)[2].partition("\n")[0]
        if float(found) == 0 or time.monotonic() > end:
            return found
        time.sleep(0.02)


@pytest.mark.parametrize("executor", ["inline", "thread", "process"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nan", "success"),  # which says null, and notes it
        ("cycle", "output_error"),
        ("raw", "success"),  # in base64
        ("unsayable", "output_error"),
        ("deep", "output_error"),
        ("odd_keys", "success"),  # as texts
        ("torn", "execution_error"),
        ("secret", "execution_error"),
        ("crashing", "execution_error"),
        ("leave", "execution_error"),
        ("cancel", "execution_error"),
    ],
)
def test_the_worst_is_answered_with_a_message(server: Server, name: str, kind: str, executor: str) -> None:
    """The same on the event loop, in a thread and in a process; and what exceptions say stays in the log."""
    response = call(server, f"{name}_{executor}")
    message = response.json()

    assert response.status_code == 200
    assert message["response_metadata"].get("error", {}).get("kind", message["status"]) == kind
    assert "hunter2" not in response.text


def test_a_long_result_is_cut_and_marked(server: Server) -> None:
    """The whole is where the mark says."""
    message = call(server, "long").json()
    whole = CLIENT.get(server.url + message["response_metadata"]["artifact_url"])

    assert message["response_metadata"]["truncated"] is True
    assert len(message["content"]) <= 1_000_000
    assert whole.content == b"x" * 10_000_000


def test_a_long_artifact_is_sent_whole(server: Server) -> None:
    """Programs read it, and no model."""
    message = call(server, "artifact").json()

    assert message["content"] == "short"
    assert message["artifact"] == ["x" * 1000] * 10_000


def test_a_long_failure_is_cut_everywhere(server: Server) -> None:
    """Not only in what the model reads: nothing of it comes a second time."""
    response = call(server, "long_failure")

    assert response.json()["response_metadata"]["error"]["kind"] == "tool_error"
    assert len(response.content) < 2_100_000


def test_thousands_of_wrong_arguments_are_not_all_listed(server: Server) -> None:
    """A model mends what it reads first; the answer is no larger than any other."""
    response = call(server, "wrong_rows", rows=["x"] * 9_000)

    assert response.json()["response_metadata"]["error"]["kind"] == "invalid_arguments"
    assert len(response.content) < 2_100_000


def test_a_generator_without_end_is_left_at_its_deadline(server: Server) -> None:
    """It is the server that asks it for more, so its thread can be had back, unlike that of a function."""
    message = call(server, "endless").json()

    assert message["response_metadata"]["error"]["kind"] == "timeout"
    assert abandoned(server) == "0.0"

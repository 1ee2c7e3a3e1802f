"""JSON that is printed to a terminal is the same, and does nothing to the terminal."""

import json
import os
import re
import select
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecall.cli.commands import cli
from sidecall.terminal.console import print_line
from tests.kit.servers import CLIENT, Server, start

TOOLS = '''
from sidecall import tool


@tool
async def paint(text: str) -> str:
    """Paint."""
    return "\\x9b31m\\x1b[0m\\u202e\\x85\\x7f\\U000e0041 ä 中"


@tool(requires_approval=True)
async def ask(text: str) -> str:
    """Ask."""
    return text
'''
HOSTILE = "\x9b31m\x1b[0m\u202e\x85\x7f\U000e0041 ä 中"
ESCAPED = r"\u009b31m\u001b[0m\u202e\u0085\u007f\udb40\udc41 ä 中"

Run = Callable[..., str]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, origin: None) -> Iterator[Server]:
    """Start a server with a tool that answers with what terminals obey."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "mine.py").write_text(TOOLS)
    server = start(folder, "--tools", "mine.py", environment={}, cwd=folder)
    yield server
    server.stop()


def read_terminal(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> str:
    """Return what comes to a terminal meanwhile, without colors."""
    master, slave = os.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as terminal, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", terminal)
        work()
        terminal.flush()
        printed = b""
        while select.select([master], [], [], 0.2)[0]:
            printed += os.read(master, 65536)
    os.close(master)
    return re.sub(r"\x1b\[[0-9;]*m", "", printed.decode()).replace("\r\n", "\n")


@pytest.fixture
def run_on_terminal(running: Server, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Give a function that runs the program for this server, and returns what comes to a terminal."""
    monkeypatch.setenv("SIDECALL_URL", running.url)
    monkeypatch.setenv("TERM", "xterm")

    def run(*arguments: str) -> str:
        def work() -> None:
            with pytest.raises(SystemExit):
                cli(list(arguments))

        return read_terminal(monkeypatch, work)

    return run


def send(running: Server, name: str) -> Any:
    """Send a call with what terminals obey."""
    body = {"name": name, "args": {"text": HOSTILE}, "id": "call_1"}
    return CLIENT.post(f"{running.url}/tool_calls", json=body).json()


def test_what_a_terminal_obeys_is_escaped(running: Server, run_on_terminal: Run) -> None:
    """In all that tools and callers say, as JSON knows it; what can be seen stays as it is."""
    call_id, approval_id = send(running, "paint")["id"], send(running, "ask")["id"]

    shown = run_on_terminal("calls", "show", call_id)
    others = [
        run_on_terminal("calls", "--json", "--limit", "1"),
        run_on_terminal("calls", "export"),
        run_on_terminal("call", "paint", "text=x", "--url", running.url),
        run_on_terminal("approvals", "show", approval_id, "--json"),
        run_on_terminal("approvals", "--json"),
    ]

    assert (json.loads(shown)["args"], json.loads(shown)["message"]["content"]) == ({"text": HOSTILE}, HOSTILE)
    for text in (shown, *others):
        assert ESCAPED in text
        assert all(line.isprintable() for line in text.split("\n"))


def test_a_line_is_escaped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As calls are followed."""
    assert read_terminal(monkeypatch, lambda: print_line({"a": HOSTILE})) == f'{{"a":"{ESCAPED}"}}\n'


def test_what_is_no_terminal_gets_it_as_it_is(running: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As ever."""
    monkeypatch.setenv("SIDECALL_URL", running.url)
    call_id = send(running, "paint")["id"]

    with (tmp_path / "out").open("w", encoding="utf-8") as file, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", file)
        with pytest.raises(SystemExit):
            cli(["calls", "show", call_id])

    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert HOSTILE.replace("\x1b", r"\u001b") in written
    assert json.loads(written)["args"] == {"text": HOSTILE}

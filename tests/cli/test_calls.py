"""`sidecall calls` and `sidecall approvals` speak with a running server."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result
from typer.testing import CliRunner

from bench.servers import plain_environment
from sidecall.cli.commands import cli
from sidecall.features.calls.cli_rows import open_console, print_calls, write_line
from tests.kit.servers import Server, start

TOOLS = '''
import asyncio

from sidecall import ToolAnnotations, ToolException, tool


@tool(annotations=ToolAnnotations(read_only=True), tags=["reading"])
async def look_up(order: str) -> str:
    """Look an order up."""
    return f"order {order}"


@tool
async def charge(order: str) -> str:
    """Charge an order."""
    if order == "broken":
        raise ToolException("no money")
    return f"charged {order}"


@tool
async def wait() -> str:
    """Wait for long."""
    await asyncio.sleep(1000)
    return "waited"


@tool(requires_approval=True)
async def refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"
'''


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, origin: None) -> Iterator[Server]:
    """Start a server with tools of all kinds."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "mine.py").write_text(TOOLS)
    server = start(folder, "--tools", "mine.py", environment={"SIDECALL_DRAIN_TIMEOUT": "0"}, cwd=folder)
    yield server
    server.stop()


Send = Callable[..., Any]


@pytest.fixture
def send(running: Server) -> Iterator[Send]:
    """Send remembered calls to a server whose earlier ones do not count."""
    with httpx.Client(base_url=running.url, trust_env=False, timeout=60) as client:

        def send_call(name: str, wait: str = "wait=30", **args: Any) -> Any:
            body = {"name": name, "args": args}
            answer = client.post("/tool_calls", json=body, headers={"Prefer": f"respond-async, {wait}"})
            place = answer.headers.get("Location", "")
            return client.get(place).json() if "Location" in answer.headers else answer.json()

        yield send_call


@pytest.fixture
def ask(running: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Give a function that runs the program for this server."""
    monkeypatch.setenv("SIDECALL_URL", running.url)
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *arguments: CliRunner().invoke(cli, list(arguments))


def _newest(ask: Callable[..., Result], *filters: str) -> Any:
    return json.loads(ask("calls", "--json", "--limit", "1", *filters).stdout)[0]


def test_calls_are_listed_in_a_table(ask: Callable[..., Result], send: Send) -> None:
    """Newest first, in no more columns than the terminal has, with whole ids."""
    send("charge", order="broken")
    send("look_up", order="x" * 300)

    lines = ask("calls", "--limit", "2").stdout.splitlines()

    assert lines[0].split() == ["id", "tool", "status", "began", "took", "about"]
    assert [line.split()[1:3] for line in lines[1:]] == [["look_up", "succeeded"], ["charge", "failed"]]
    assert all(re.match(r"[0-9a-f-]{36} ", line) for line in lines[1:])
    assert max(map(len, lines)) <= 100
    assert "tool_error" in lines[2]


def test_calls_are_chosen(ask: Callable[..., Result], send: Send) -> None:
    """By the parameters of the route."""
    send("charge", order="broken")
    send("look_up", order="7")

    assert _newest(ask, "--status", "failed", "--kind", "tool_error", "--since", "10m")["args"] == {"order": "broken"}
    assert _newest(ask, "--tag", "reading")["name"] == "look_up"
    assert json.loads(ask("calls", "--json", "--name", "look_up", "--caller", "nobody").stdout) == []
    assert json.loads(ask("calls", "--json", "--until", "2020-01-01T00:00:00Z").stdout) == []


@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        (200, "id tool status began took about"),
        (80, "id tool status began"),
        (60, "id tool status"),
    ],
)
def test_a_narrow_terminal_shows_less(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int, headings: str
) -> None:
    """The last columns are left out; what a terminal would obey is shown in none."""
    monkeypatch.setenv("COLUMNS", str(columns))
    call = {"id": "i" * 36, "name": "look_up", "status": "succeeded", "kind": None, "duration_ms": 1234.5}

    print_calls([{**call, "created_at": "2020-01-01T00:00:00Z", "args": {"[red]\x9b31m\u202e": 1}}])

    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split() == headings.split()
    assert ("[red]\ufffd31m\ufffd" in printed) is (columns == 200)
    assert "1.2 s" in printed or columns < 200


def test_a_pipe_takes_all(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """However wide it is, and however wide its letters are."""
    monkeypatch.delenv("COLUMNS", raising=False)
    call = {"id": "i" * 36, "name": "look_up" * 9, "status": "succeeded", "kind": None, "duration_ms": 1234.5}

    print_calls([{**call, "created_at": "2020-01-01T00:00:00Z", "args": {"order": "\u5b57" * 300}}])
    open_console().print(write_line({**call, "created_at": "2020-01-01T00:00:00Z", "args": {"order": "x" * 300}}))

    heading, row, line, *rest = capsys.readouterr().out.splitlines()
    assert heading.split() == ["id", "tool", "status", "began", "took", "about"]
    assert row.split()[:3] == ["i" * 36, "look_up" * 9, "succeeded"]
    assert row.rstrip().endswith(f'1.2 s  {{"order": "{chr(0x5B57) * 300}"}}')
    assert line.endswith(f'1.2 s  {{"order": "{"x" * 300}"}}')
    assert rest == []


def test_one_call_is_shown_and_run_again(ask: Callable[..., Result], send: Send) -> None:
    """With its answer; the new one names it."""
    send("look_up", order="8")
    first = _newest(ask)

    shown = json.loads(ask("calls", "show", first["id"]).stdout)
    accepted = json.loads(ask("calls", "replay", first["id"]).stdout)
    answer = json.loads(ask("calls", "replay", first["id"], "--wait", "30").stdout)

    assert shown["message"]["content"] == "order 8"
    assert accepted["replay_of"] == first["id"]
    assert answer["content"] == "order 8"


def test_a_dangerous_call_is_run_again_for_who_insists(ask: Callable[..., Result], send: Send) -> None:
    """Else it is refused, with what to write here."""
    send("charge", order="9")
    first = _newest(ask)["id"]

    refused = ask("calls", "replay", first)
    accepted = ask("calls", "replay", first, "--insist", "--wait", "30")

    assert refused.exit_code == 1
    said = "charge is neither read-only nor idempotent, so it may do twice what it should do once. "
    assert str(refused.exception) == said + "Say --insist to run it again all the same."
    assert json.loads(accepted.stdout)["content"] == "charged 9"


def test_a_call_is_cancelled(ask: Callable[..., Result], send: Send) -> None:
    """It is shown as it ended."""
    call = send("wait", wait="wait=0")

    assert json.loads(ask("calls", "cancel", call["id"]).stdout)["status"] == "cancelled"


def test_calls_are_exported(ask: Callable[..., Result], send: Send, tmp_path: Path) -> None:
    """To the terminal or a file, by the same filters."""
    send("look_up", order="10")

    printed = ask("calls", "export", "--name", "look_up").stdout.splitlines()
    ask("calls", "export", "--name", "look_up", "--output", str(tmp_path / "calls.jsonl"))

    assert json.loads(printed[0])["message"]["content"] == "order 10"
    assert (tmp_path / "calls.jsonl").read_text().splitlines() == printed


def test_calls_are_followed(running: Server, send: Send) -> None:
    """Those that come from then on, and again when they have ended; Ctrl+C ends it without a word."""
    send("look_up", order="before")
    command = [sys.executable, "-u", "-m", "sidecall", "calls", "follow", "--json", "--url", running.url]
    with subprocess.Popen(
        command, env={**os.environ, **plain_environment()}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            found: list[Any] = []
            while not found:  # Until it has begun to listen.
                send("look_up", order="after")
                found = _read_ready(process.stdout)
            call = send("wait", wait="wait=0")
            while not any(it["id"] == call["id"] for it in found):
                found.append(json.loads(process.stdout.readline()))
            httpx.post(f"{running.url}/tool_calls/{call['id']}/cancel", trust_env=False)
            while found[-1]["id"] != call["id"] or found[-1]["status"] != "cancelled":
                found.append(json.loads(process.stdout.readline()))
        finally:
            process.send_signal(signal.SIGINT)
            try:
                _, errors = process.communicate(timeout=60)
            finally:
                process.kill()

    assert {call["args"].get("order") for call in found} == {"after", None}
    assert (process.returncode, errors) == (0, "")


def _read_ready(stream: Any) -> list[Any]:
    """Read a line that comes within a second and a half, if one does."""
    ready, _, _ = select.select([stream], [], [], 1.5)
    return [json.loads(stream.readline())] if ready else []


@pytest.mark.parametrize("noun", ["calls", "approvals"])
def test_lists_may_be_asked_for_by_name(ask: Callable[..., Result], send: Send, noun: str) -> None:
    """With the options of the noun alone, behind that word."""
    send("look_up", order="14")
    by_name = ask(noun, "list", "--limit", "1", "--json")

    assert (by_name.exit_code, by_name.stdout) == (0, ask(noun, "--limit", "1", "--json").stdout)
    assert ask(noun, "--limit", "1", "list").exit_code == 2


def test_approvals_are_listed_and_decided(ask: Callable[..., Result], send: Send) -> None:
    """Approved, with other arguments too, or rejected with a reason."""
    for order in ("11", "12", "13"):
        send("refund", wait="wait=0", order=order)
        while len(json.loads(ask("approvals", "--json").stdout)) < int(order) - 10:
            pass
    table = ask("approvals").stdout.splitlines()
    pending = json.loads(ask("approvals", "--json").stdout)
    one, two, three = (approval["id"] for approval in pending)

    approved = json.loads(ask("approvals", "approve", one, "--reason", "fine", "--question", "1").stdout)
    edited = json.loads(ask("approvals", "approve", two, "--args", '{"order": "99"}').stdout)
    rejected = json.loads(ask("approvals", "reject", three, "--reason", "Ask first.").stdout)
    shown = [json.loads(ask("approvals", "show", it, "--json").stdout) for it in (one, two, three)]

    assert [line.split()[:3] for line in table[1:]] == [[it, "refund", "pending"] for it in (one, two, three)]
    assert (approved["message"]["content"], approved["reason"]) == ("refunded 11", "fine")
    assert edited["message"]["content"] == "refunded 99"
    assert (rejected["status"], "Ask first." in rejected["message"]["content"]) == ("rejected", True)
    assert shown == [approved, edited, rejected]
    assert (edited["tool_call"]["args"], edited["asked_args"]) == ({"order": "99"}, {"order": "12"})
    assert json.loads(ask("approvals", "--json").stdout) == []
    assert [it["id"] for it in json.loads(ask("approvals", "--json", "--status", "rejected").stdout)] == [three]


def test_rules_are_made_listed_and_revoked(ask: Callable[..., Result], send: Send) -> None:
    """Those who approve for good can take that back."""
    send("refund", wait="wait=0", order="21")
    while not (pending := json.loads(ask("approvals", "--json").stdout)):
        pass
    [waiting] = pending
    ask("approvals", "approve", waiting["id"], "--always", "--expires-in", "1000")
    [rule] = json.loads(ask("approvals", "rules", "--json").stdout)
    assert "decision" in ask("approvals", "rules").stdout.splitlines()[0]
    revoked = ask("approvals", "revoke", rule["id"])

    assert (rule["tool"], rule["decision"], rule["expires_at"] is None) == ("refund", "approve", False)
    assert revoked.exit_code == 0
    assert json.loads(ask("approvals", "rules", "--json").stdout) == []
    assert ask("approvals", "revoke", rule["id"]).exit_code != 0


def test_the_servers_refusal_is_said(running: Server, sidecall_here: Any) -> None:
    """In one line."""
    result = sidecall_here("calls", "show", "01a202d4-8e08-76c8-a6cd-81cabbcf02ac", SIDECALL_URL=running.url)

    said = "error: There is no such call, or it is not remembered any more.\n"
    assert (result.returncode, result.stderr) == (1, said)

"""`sidecall audit` lists what a running server has written down of decisions and refusals, for those who may."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from click.testing import Result
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.terminal.remote import RefusedByServer
from tests.kit.callers.keys import write_keys
from tests.kit.servers import end, start

TOOLS = '''
from sidecall import tool


@tool(requires_approval=True)
async def refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"
'''
_ROW = re.compile(r"(approved|denied|key_made) +(\S+)")
SCOPES = {"agent": ("tools:call",), "boss": ("approvals:decide",), "operator": ("server:operate",)}
Keys = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, origin: None) -> Iterator[tuple[str, Keys]]:
    """Start a server on which somebody has approved a call, and somebody has tried to read what it may not."""
    folder = tmp_path_factory.mktemp("audit")
    (folder / "mine.py").write_text(TOOLS)
    keys = write_keys(folder / "keys.jsonl", SCOPES)
    environment = {"SIDECALL_AUTH": "api_key", "SIDECALL_KEYS_FILE": str(folder / "keys.jsonl")}
    running = start(folder, "--tools", str(folder / "mine.py"), environment=environment)
    with httpx.Client(base_url=running.url, trust_env=False, timeout=60) as client:
        call = {"name": "refund", "args": {"order": "7"}, "id": "call_1"}
        waiting = client.post("/tool_calls", json=call, headers=keys["agent"])
        approve = {"decision": "approve", "reason": "Paid twice."}
        assert client.post(waiting.headers["Location"], json=approve, headers=keys["boss"]).status_code == 200
        assert [client.get("/status", headers=keys["agent"]).status_code for _ in range(3)] == [403] * 3
    yield running.url, keys
    end(running.process)


Ask = Callable[..., Result]


@pytest.fixture
def ask(server: tuple[str, Keys], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Give a function that runs the program as somebody."""
    url, keys = server
    monkeypatch.setenv("SIDECALL_URL", url)
    monkeypatch.setenv("COLUMNS", "200")

    def run(who: str | None, *arguments: str) -> Result:
        key = "" if who is None else keys[who]["Authorization"].partition(" ")[2]
        return CliRunner(env={"SIDECALL_API_KEY": key}).invoke(cli, ["audit", *arguments])

    return run


def test_it_lists_what_was_decided_and_refused(ask: Ask) -> None:
    """As a table: when, what, by whom, and about what."""
    printed = ask("operator").stdout

    assert printed.split()[:4] == ["when", "what", "by", "about"]
    # Where a minute has just ended, what was refused in it and in the next are two entries.
    assert sorted(set(_ROW.findall(printed))) == [("approved", "boss"), ("denied", "agent"), ("key_made", "-")]
    assert "Paid twice." in printed
    assert "lacks the scope server:operate" in printed


def test_refusals_are_counted(ask: Ask) -> None:
    """Each kind is one entry a minute, however often it came."""
    entries = json.loads(ask("operator", "--json", "--action", "denied").stdout)

    assert {(entry["by"], entry["details"]["reason"]) for entry in entries} == {
        ("agent", "lacks the scope server:operate")
    }
    assert sum(entry["count"] for entry in entries) == 3


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--action", "approved"), [("approved", "boss")]),
        (("--by", "nobody"), []),
        (("--until", "2020-01-01T00:00:00Z"), []),
        (("--action", "key_made", "--limit", "2"), [("key_made", None), ("key_made", None)]),
    ],
)
def test_its_options_choose(ask: Ask, arguments: tuple[str, ...], found: list[Any]) -> None:
    """As JSON it says what the server says."""
    entries = json.loads(ask("operator", "--json", *arguments).stdout)

    assert [(entry["action"], entry["by"]) for entry in entries] == found


@pytest.mark.parametrize(
    ("who", "told"),
    [
        (None, "The server does not know who asks: put a key or a token into SIDECALL_API_KEY."),
        ("agent", "server:operate"),
    ],
)
def test_who_may_not_read_it_is_told_what_it_takes(ask: Ask, who: str | None, told: str) -> None:
    """A credential, or the scope."""
    result = ask(who)

    assert isinstance(result.exception, RefusedByServer)
    assert told in result.exception.message


def test_no_key_stands_in_it(ask: Ask, server: tuple[str, Keys]) -> None:
    """Neither the keys, nor their hashes."""
    printed = ask("operator", "--json").stdout

    assert not [key for key in server[1].values() if key["Authorization"].partition(" ")[2] in printed]
    assert "sha256" not in printed

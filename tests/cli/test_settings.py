"""`sidecall settings` prints what holds, from where, and no secret."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SidecallHere

KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
HOOK = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


def read(sidecall_here: SidecallHere, *arguments: str, **environment: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the JSON."""
    result = sidecall_here("settings", "--json", *arguments, **environment)
    return result.returncode, json.loads(result.stdout)


def test_each_setting_says_where_it_comes_from(sidecall_here: SidecallHere) -> None:
    """An empty variable counts as none, and its case does not count."""
    code, found = read(sidecall_here, SIDECALL_PORT="9000", sidecall_workers="3", SIDECALL_THREADS="")

    rows = {row["name"]: row for row in found["settings"]}
    assert code == 0
    assert rows["SIDECALL_PORT"] == {
        "name": "SIDECALL_PORT",
        "owner": "server",
        "value": 9000,
        "source": "environment",
        "variable": "SIDECALL_PORT",
        "default": 8000,
        "problem": None,
    }
    assert (rows["SIDECALL_WORKERS"]["value"], rows["SIDECALL_WORKERS"]["variable"]) == (3, "sidecall_workers")
    assert (rows["SIDECALL_THREADS"]["value"], rows["SIDECALL_THREADS"]["source"]) == (32, "default")
    assert (found["unknown"], found["unread"], found["problems"]) == ([], None, [])


def test_only_what_is_set_is_printed_on_request(sidecall_here: SidecallHere) -> None:
    """One line each, the value last, since it may be long."""
    result = sidecall_here(
        "settings", "--set", SIDECALL_TOOLS="a.py,b.py", SIDECALL_DOCS="false", SIDECALL_URL="http://x"
    )

    assert result.stdout.splitlines() == [
        "SIDECALL_DOCS   environment               false",
        "SIDECALL_TOOLS  environment               a.py,b.py",
        "SIDECALL_URL    environment, for clients  http://x",
    ]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("SIDECALL_SECRETS_KEY", KEY, "[hidden]"),
        ("SIDECALL_WEBHOOK_SECRET", HOOK, "[hidden]"),
        ("SIDECALL_STORE", "postgresql://me:s3cret@db:5432/x", "postgresql://[hidden]@db:5432/x"),
        ("SIDECALL_STORE", "postgresql://db/x?password=s3cret&sslmode=require", None),
        ("SIDECALL_OUTGOING_PROXY", "http://me:s3cret@proxy:3128", "http://[hidden]@proxy:3128"),
        ("SIDECALL_OPENAPI", "a=https://me:s3cret@b.example,two.json", ["a=https://[hidden]@b.example", "two.json"]),
        ("SIDECALL_MCP_SERVERS", '{"mcpServers": {"a": {"url": "https://x", "headers": {"X": "s3cret"}}}}', None),
        ("SIDECALL_API_KEY", "s3cret", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["--json", "--set"])
def test_secrets_are_hidden(sidecall_here: SidecallHere, name: str, value: str, shown: Any, form: str) -> None:
    """Also those within addresses and configurations, and in both forms."""
    result = sidecall_here("settings", form, **{name: value})

    assert "s3cret" not in result.stdout + result.stderr
    assert value not in result.stdout
    if form == "--json" and shown is not None:
        rows = {row["name"]: row["value"] for row in json.loads(result.stdout)["settings"]}
        assert rows[name] == shown


def test_unknown_variables_are_named_with_the_nearest_setting(sidecall_here: SidecallHere) -> None:
    """One that is nearly a setting keeps a server from starting, as the exit code says."""
    code, found = read(sidecall_here, SIDECALL_WORKER_COUNT="2", SIDECALL_PROT="9000", SIDECALL_QQQQQQQQ="1")

    assert found["unknown"] == [
        {"name": "SIDECALL_PROT", "nearest": "SIDECALL_PORT"},
        {"name": "SIDECALL_QQQQQQQQ", "nearest": None},
        {"name": "SIDECALL_WORKER_COUNT", "nearest": "SIDECALL_WORKERS"},
    ]
    assert found["problems"] == ["There is no setting SIDECALL_PROT; write SIDECALL_PORT."]
    assert code == 1


def test_wrong_values_are_shown_with_the_reason(sidecall_here: SidecallHere) -> None:
    """The others are printed all the same."""
    code, found = read(sidecall_here, SIDECALL_PORT="many", SIDECALL_SECRETS_KEY="short", SIDECALL_WORKERS="2")

    rows = {row["name"]: row for row in found["settings"]}
    assert code == 1
    assert (rows["SIDECALL_PORT"]["value"], rows["SIDECALL_WORKERS"]["value"]) == ("many", "2")
    assert rows["SIDECALL_PORT"]["problem"] == ("Input should be a valid integer, unable to parse string as an integer")
    assert rows["SIDECALL_SECRETS_KEY"]["value"] == "[hidden]"
    assert "short" not in json.dumps(found)


def test_a_file_that_servers_do_not_read_is_pointed_at(sidecall_here: SidecallHere, here: Path) -> None:
    """Compose reads `.env`; what it holds is in the environment then."""
    (here / ".env").write_text("SIDECALL_PORT=9000\nSIDECALL_WORKERS=2\nOTHER=1\nSIDECALL_THREADS=\n")

    _, found = read(sidecall_here, SIDECALL_WORKERS="2")

    assert found["unread"] == {"file": ".env", "names": ["SIDECALL_PORT"]}


def test_a_wrong_value_is_said_back_without_its_password(sidecall_here: SidecallHere) -> None:
    """Logs are read by many."""
    result = sidecall_here(
        "tools", SIDECALL_OAUTH='{"client_secret": "s3cret"', SIDECALL_OUTGOING_PROXY="ftp://a:s3cret@b"
    )

    assert result.returncode == 1
    assert "s3cret" not in result.stderr
    assert "SIDECALL_OAUTH" in result.stderr

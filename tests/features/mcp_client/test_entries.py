"""An `mcp.json` is read as desktop clients write it, and what is wrong with it is said."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.mcp_client.mcp_json import InvalidMcpServers, UpstreamEntry, read_entries

TIME = {"command": "uvx", "args": ["mcp-server-time"]}


def read(present: dict[str, str] | None = None, **servers: Any) -> dict[str, UpstreamEntry]:
    """Read servers by their names."""
    return read_entries(json.dumps({"mcpServers": servers}), present or {})


def test_servers_are_read_from_a_text() -> None:
    """Those that are disabled are left out, and their variables need not be set."""
    found = read(time=TIME, off={"command": "${NOWHERE}", "disabled": True})

    assert found == {"time": UpstreamEntry(command="uvx", args=("mcp-server-time",))}


@pytest.mark.parametrize("root", ["mcpServers", "servers"])
def test_servers_are_read_from_a_file(tmp_path: Path, root: str) -> None:
    """Also as editors write it, and as Windows begins files."""
    file = tmp_path / "mcp.json"
    file.write_text(f"\ufeff{json.dumps({root: {'time': TIME}})}")

    assert list(read_entries(str(file), {})) == ["time"]


def test_variables_are_put_in() -> None:
    """An empty one counts as not set."""
    raw = {
        "url": "https://${HOST:-example.com}/mcp",
        "headers": {"Authorization": "Bearer ${env:TOKEN}", "X-Price": "$5 ${EMPTY:-}"},
    }

    found = read({"TOKEN": "t0", "EMPTY": ""}, remote=raw)["remote"]

    assert (found.url, found.headers) == ("https://example.com/mcp", {"Authorization": "Bearer t0", "X-Price": "$5 "})


def test_what_is_the_callers_is_left_for_the_call() -> None:
    """It is known by its names."""
    raw = {
        "url": "https://a/mcp",
        "caller_headers": {"Authorization": "Bearer ${secret:PAT}", "X-U": "${header:X-User}"},
    }

    wanted = read(remote=raw)["remote"].caller_headers

    assert (wanted.secrets, wanted.headers) == (("PAT",), ("X-User",))
    assert wanted.fill({"PAT": "p"}, {"X-User": "ann"}) == {"Authorization": "Bearer p", "X-U": "ann"}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({}, "write either `command`, which starts the server, or `url`, where it is"),
        ({"command": "a", "url": "http://b"}, "write either `command`, which starts the server, or `url`, where it is"),
        ({"type": "http", "command": "a"}, "`type` says another way than `command` or `url`"),
        ({"type": "sse", "url": "http://b"}, "has the type sse, which MCP has given up"),
        ({"url": "ftp://b"}, "url: write an address with http:// or https://"),
        ({"command": "a", "headers": {"X": "1"}}, "headers are sent to a `url`"),
        ({"command": "a", "timeout": 0}, "timeout: Input should be greater than 0"),
        (
            {"command": "${NOWHERE}"},
            "names the variable NOWHERE, which is not set; set it, or write ${NOWHERE:-instead}",
        ),
        ({"command": "a", "require_approval": True}, "has `require_approval`, which is none of its members; write"),
        ({"url": "http://b", "caller_headers": {"X": "same"}}, "X has neither ${secret:NAME} nor ${header:NAME}"),
        ("npx", "Input should be a valid dictionary"),
    ],
)
def test_an_entry_that_is_none_is_named(raw: Any, reason: str) -> None:
    """With its server, and without its values."""
    with pytest.raises(InvalidMcpServers) as refused:
        read(files=raw)

    assert "server 'files'" in refused.value.message
    assert reason in refused.value.message


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("{", "SIDECALL_MCP_SERVERS is no JSON"),
        ('{"time": {}}', "SIDECALL_MCP_SERVERS has to be an object with `mcpServers`"),
        ("/nowhere/mcp.json", "SIDECALL_MCP_SERVERS is /nowhere/mcp.json, which cannot be read: No such file"),
    ],
)
def test_a_setting_that_is_none_is_refused(setting: str, reason: str) -> None:
    """It says what to write instead."""
    with pytest.raises(InvalidMcpServers, match=reason):
        read_entries(setting, {})


def test_what_other_clients_keep_there_is_borne(caplog: pytest.LogCaptureFixture) -> None:
    """What nobody knows is named in the log."""
    with caplog.at_level(logging.WARNING, "sidecall"):
        read(time={**TIME, "autoApprove": ["a"], "colour": "blue"})

    assert [record.getMessage() for record in caplog.records] == [
        "SIDECALL_MCP_SERVERS: server 'time' has `colour`, which is not used here"
    ]


@pytest.mark.parametrize(
    ("entry", "offered", "asked"),
    [
        ({}, ["read_a", "write_a"], []),
        ({"include": ["read_*"]}, ["read_a"], []),
        ({"exclude": "write_*"}, ["read_a"], []),
        ({"include": "*", "exclude": ["*_a"]}, [], []),
        ({"requires_approval": True}, ["read_a", "write_a"], ["read_a", "write_a"]),
        ({"requires_approval": ["write_*"]}, ["read_a", "write_a"], ["write_a"]),
    ],
)
def test_patterns_choose_tools(entry: dict[str, Any], offered: list[str], asked: list[str]) -> None:
    """By their names at their server."""
    found = UpstreamEntry(command="a", **entry)

    assert [name for name in ("read_a", "write_a") if found.offers(name)] == offered
    assert [name for name in ("read_a", "write_a") if found.asks(name)] == asked


def test_the_place_has_no_secrets() -> None:
    """It is shown to operators and in logs."""
    assert UpstreamEntry(url="https://me:word@a.example/mcp?key=1").place == "a.example/mcp"

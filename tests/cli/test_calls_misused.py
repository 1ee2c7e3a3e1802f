"""What `sidecall calls` and `sidecall approvals` say of a mistake."""

from typing import Any

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli

SOME = "01a202d4-8e08-76c8-a6cd-81cabbcf02ac"


@pytest.mark.parametrize(
    "arguments",
    [
        ("calls", "--since", "yesterday"),
        ("calls", "show", ""),
        ("calls", "show", "export"),
        ("approvals", "approve", "x"),
        ("approvals", "show", "rules"),
        ("calls", "--status", "failed", "show", SOME),
        ("calls", "--status", "broken"),
        ("approvals", "--limit", "3", "reject", SOME, "--reason", "no"),
        ("approvals", "approve", SOME, "--args", "[1]"),
        ("approvals", "approve", SOME, "--args", "{"),
        ("approvals", "reject", SOME),
    ],
)
def test_a_mistake_of_usage_is_said(arguments: tuple[str, ...]) -> None:
    """Before any server is asked."""
    assert CliRunner().invoke(cli, list(arguments)).exit_code == 2


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "nonsense", "http://[", "ftp://127.0.0.1"])
@pytest.mark.parametrize(
    "command",
    [
        ("calls",),
        ("calls", "show", SOME),
        ("calls", "follow"),
        ("calls", "export"),
        ("approvals",),
        ("approvals", "show", SOME),
    ],
)
def test_that_no_server_is_there_is_said(sidecall_here: Any, command: tuple[str, ...], url: str) -> None:
    """With what to do about it."""
    result = sidecall_here(*command, "--url", url)

    assert result.returncode == 1
    assert result.stderr.startswith(f"error: no server answers at {url}: ")
    assert "sidecall serve" in result.stderr

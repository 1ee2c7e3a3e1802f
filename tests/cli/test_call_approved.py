"""`sidecall call` stands for the person, and has what the server has."""

import json
from pathlib import Path

import pytest
import respx

from sidecall.kernel.core.errors import ToolCallFailed
from tests.cli.conftest import call

pytestmark = pytest.mark.usefixtures("tools_here")

TOOLS = '''
from typing import Annotated

from sidecall import Secret, tool


@tool(requires_approval=True)
def delete(order: int) -> str:
    """Delete an order."""
    return f"deleted {order}"


@tool(handle_tool_error=None)
def crash() -> str:
    """Crash, and let everybody know."""
    raise ValueError("canary-4711")


@tool
def send(key: Annotated[str, Secret("CLI_KEY")]) -> str:
    """Send with a key."""
    return f"sent with {key}"
'''
URL = "http://sidecall.test"


def test_whoever_types_the_command_approves_of_it() -> None:
    """There is nobody else to ask."""
    result = call("delete", "order=7")

    assert result.exit_code == 0
    assert json.loads(result.stdout)["content"] == "deleted 7"


def test_a_failure_that_goes_through_is_said_in_a_sentence() -> None:
    """As the calling program of a server is told; the reason is for the log."""
    result = call("crash", "--id", "call_cli")

    assert isinstance(result.exception, ToolCallFailed)
    assert result.exception.message == ("Error: crash failed unexpectedly (call call_cli). The details are above.")
    assert result.exit_code == 1


def test_a_tool_has_its_secret_here_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the folder that the settings name."""
    monkeypatch.delenv("CLI_KEY", raising=False)
    monkeypatch.setenv("SIDECALL_SECRETS_DIR", str(here))
    (here / "CLI_KEY").write_text("s3cret\n")

    assert json.loads(call("send").stdout)["content"] == "sent with [redacted]"


@pytest.mark.respx(base_url=URL, assert_all_called=False)
def test_a_call_that_waits_on_a_server_is_shown_and_not_a_success(respx_mock: respx.MockRouter) -> None:
    """With the approval, so that somebody can decide; the answer is not there yet."""
    respx_mock.get("/tools/delete").respond(404, json={})
    respx_mock.post("/tool_calls").respond(202, json={"id": "01956a3e", "status": "pending", "message": None})

    result = call("delete", "order=7", "--url", URL)

    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"id": "01956a3e", "status": "pending", "message": None}


@pytest.mark.respx(base_url=URL, assert_all_called=False)
def test_a_failure_that_a_server_lets_through_is_said_in_its_words(respx_mock: respx.MockRouter) -> None:
    """It comes as a problem."""
    respx_mock.get("/tools/crash").respond(404, json={})
    respx_mock.post("/tool_calls").respond(500, json={"status": 500, "detail": "Busy.", "kind": "tool_error"})

    result = call("crash", "--url", URL)

    assert result.exit_code != 0
    assert "Busy." in result.stderr
    assert result.stdout == ""

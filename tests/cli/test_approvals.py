"""What `sidecall approvals` sends."""

import httpx
import respx
from typer.testing import CliRunner

from sidecall.cli.commands import cli

ONE = "01a202d5-0b17-70d1-bf2a-9df5ac6a7d10"


def test_a_decision_names_the_question_that_was_read(respx_mock: respx.MockRouter) -> None:
    """Where that is given."""
    route = respx_mock.post(f"http://127.0.0.1:8000/approvals/{ONE}").mock(httpx.Response(200, json={}))

    CliRunner().invoke(cli, ["approvals", "approve", ONE, "--question", "2"])
    CliRunner().invoke(cli, ["approvals", "reject", ONE, "--reason", "No."])

    assert [call.request.content for call in route.calls] == [
        b'{"decision":"approve","question":2}',
        b'{"decision":"reject","reason":"No."}',
    ]

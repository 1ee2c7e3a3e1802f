"""What `sidecall approvals` sends."""

import httpx
import pytest
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


@pytest.mark.parametrize(
    ("options", "query"),
    [
        ([], {"status": "pending"}),
        (["list"], {"status": "pending"}),
        (["--status", "all"], {}),
        (["--status", "expired"], {"status": "expired"}),
        (["list", "--conversation", "chat 7"], {"status": "pending", "conversation": "chat 7"}),
        (
            ["--trace-id", "0af7651916cd43dd8448eb211c80319c", "--status", "all"],
            {"trace_id": "0af7651916cd43dd8448eb211c80319c"},
        ),
        (["--request-id", "r-1", "--tool", "pay"], {"status": "pending", "request_id": "r-1", "tool": "pay"}),
        (["--requested-by", "ann"], {"status": "pending", "requested_by": "ann"}),
    ],
)
def test_a_list_is_narrowed(respx_mock: respx.MockRouter, options: list[str], query: dict[str, str]) -> None:
    """By all that the server narrows it by."""
    route = respx_mock.get("http://127.0.0.1:8000/approvals").mock(httpx.Response(200, json=[]))

    result = CliRunner().invoke(cli, ["approvals", *options])

    assert result.exit_code == 0
    assert dict(route.calls.last.request.url.params) | {"limit": "100"} == {**query, "limit": "100"}


@pytest.mark.parametrize("options", [["--status", "nonsense"], ["--conversation", "a", "rules"]])
def test_what_is_no_list_is_refused(options: list[str]) -> None:
    """Also options in front of another command."""
    assert CliRunner().invoke(cli, ["approvals", *options]).exit_code == 2

"""How one approval is shown to a person."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from sidecall.features.calls.cli_rows import print_approval

LONG_AGO = {"created_at": "2024-01-02T12:00:00Z", "expires_at": "2024-01-03T12:00:00Z"}
PENDING: dict[str, Any] = {
    "id": "01a202d5-0b17-70d1-bf2a-9df5ac6a7d10",
    "status": "pending",
    "requested_by": "agent",
    "conversation_id": None,
    **LONG_AGO,
    "decided_at": None,
    "decided_by": None,
    "reason": None,
    "always": False,
    "description": None,
    "sign_in": None,
    "tool_call": {"type": "tool_call", "name": "refund", "args": {"order": "12"}, "id": "call_1"},
    "asked_args": None,
    "preview": None,
    "preview_error": None,
    "payload": None,
    "message": None,
}
EDITED = {
    **PENDING,
    "status": "approved",
    "decided_at": "2024-01-02T13:00:00Z",
    "decided_by": "ada",
    "reason": "Half of it.\nAt most.",
    "asked_args": {"order": "13"},
    "preview": {"pays": [1, 2]},
    "conversation_id": "chat-7",
    "message": {"content": "refunded \x1b[2J12", "status": "success"},
}


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give a narrow terminal, and a clock that shows the time of Greenwich."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _print(capsys: pytest.CaptureFixture[str], approval: dict[str, Any]) -> str:
    print_approval(approval)
    return "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())


def test_one_that_waits_says_what_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing of what there is not yet."""
    assert _print(capsys, PENDING) == (
        """\
id         01a202d5-0b17-70d1-bf2a-9df5ac6a7d10
status     pending
tool       refund
call       call_1
arguments  {
             "order": "12"
           }
asked by   agent
asked      2024-01-02 12:00
expires    2024-01-03 12:00"""
    )


def test_one_that_was_edited_says_both_and_who_decided(capsys: pytest.CaptureFixture[str]) -> None:
    """Whole, with what would hide something replaced."""
    assert _print(capsys, EDITED) == (
        """\
id                 01a202d5-0b17-70d1-bf2a-9df5ac6a7d10
status             approved
tool               refund
call               call_1
arguments          {
                     "order": "12"
                   }
model's arguments  {
                     "order": "13"
                   }
preview            {
                     "pays": [
                       1,
                       2
                     ]
                   }
conversation       chat-7
asked by           agent
asked              2024-01-02 12:00
decided            2024-01-02 13:00
expires            2024-01-03 12:00
decided by         ada
reason             Half of it.
                   At most.
answer             refunded \N{REPLACEMENT CHARACTER}[2J12"""
    )


def test_one_that_asks_says_all_that_its_tool_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """Long words are folded, not cut; a failed call's answer is a failure."""
    asking = {
        "description": "Only 400 euros would be left.",
        "preview_error": "There is no order 12.",
        "payload": {"account": "x" * 60},
        "sign_in": {"provider": "github", "url": "https://example.com/sign-in"},
        "always": True,
        "message": {"content": [{"type": "text", "text": "no"}], "status": "error"},
    }
    shown = _print(capsys, {**PENDING, **asking}).split("\n")

    assert [line for line in shown if not line.startswith(("id", "status", "tool", "call", "asked", "expires"))] == [
        "arguments   {",
        '              "order": "12"',
        "            }",
        "question    Only 400 euros would be left.",
        "no preview  There is no order 12.",
        "payload     {",
        '              "account":',
        f'            "{"x" * 47}',
        f'            {"x" * 13}"',
        "            }",
        "sign in     https://example.com/sign-in",
        "for good    yes",
        "failure     [",
        "              {",
        '                "type": "text",',
        '                "text": "no"',
        "              }",
        "            ]",
    ]

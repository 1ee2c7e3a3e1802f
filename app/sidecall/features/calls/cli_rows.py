"""Print calls and approvals: for people as wide as the terminal, for programs in full."""

import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sidecall.terminal.console import make_console

_COLORS = {"succeeded": "green", "failed": "red", "outcome_unknown": "red", "running": "cyan", "pending": "yellow"}

# Labels of an approval's times, in their order.
_TIMES = {"asked": "created_at", "decided": "decided_at", "expires": "expires_at"}

# Widths in columns: the gap, the tool's name, and the minimum below which the last column is left out.
_GAP = 2
_WIDEST_NAME = 24
_LEAST = 8
# Width where there is no terminal.
_BOUNDLESS = 1_000_000


def print_calls(calls: Iterable[dict[str, Any]]) -> None:
    """Print a table of calls."""
    rows = [
        (call["id"], call["name"], call["status"], write_time(call["created_at"]), _how_long(call), _what(call))
        for call in calls
    ]
    print_table(("id", "tool", "status", "began", "took", "about"), rows)


def print_approvals(approvals: Iterable[dict[str, Any]]) -> None:
    """Print a table of approvals."""
    rows = []
    for approval in approvals:
        asked = approval["tool_call"]
        args = "(large)" if asked["args"] is None else write_args(asked["args"])
        sign_in = approval.get("sign_in") if approval["status"] == "pending" else None
        status = approval["status"] if sign_in is None else f"sign in: {sign_in['url']}"
        rows.append((approval["id"], asked["name"], status, write_time(approval["created_at"]), args))
    print_table(("id", "tool", "status", "asked", "arguments"), rows)


# What has become of the tool since a person was asked.
_TOOL_NOW = {"changed": "changed since it was asked about", "gone": "gone"}


def print_approval(approval: dict[str, Any]) -> None:
    """Print an approval: a line or more for each field that is set."""
    asked, message, sign_in = approval["tool_call"], approval["message"] or {}, approval["sign_in"] or {}
    rows = {
        "id": approval["id"],
        "status": approval["status"],
        "tool": asked["name"],
        "the tool now": _TOOL_NOW.get(approval.get("tool_state", "")),
        "call": asked["id"],
        "arguments": asked["args"],
        "model's arguments": approval["asked_args"],
        "question": approval["description"],
        "question's number": approval.get("question"),
        "preview": approval["preview"],
        "no preview": approval["preview_error"],
        "payload": approval["payload"],
        "sign in": sign_in.get("url"),
        "conversation": approval["conversation_id"],
        "asked by": approval["requested_by"],
        **{name: approval[key] and write_time(approval[key]) for name, key in _TIMES.items()},
        "decided by": approval["decided_by"],
        "reason": approval["reason"],
        "for good": "yes" if approval["always"] else None,
        "failure" if message.get("status") == "error" else "answer": message.get("content"),
    }
    table = Table(box=None, show_header=False, padding=(0, _GAP, 0, 0), pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, Text(_write_whole(value), _COLORS.get(str(value), "")))
    make_console().print(table)


def print_rules(rules: Iterable[dict[str, Any]]) -> None:
    """Print a table of rules."""
    rows = []
    for rule in rules:
        until = "" if rule["expires_at"] is None else f", until {write_time(rule['expires_at'])}"
        whose = f"{rule['caller']}, by {rule['decided_by']}{until}"
        rows.append((rule["id"], rule["tool"], rule["decision"], write_time(rule["decided_at"]), whose))
    print_table(("id", "tool", "decision", "decided", "for"), rows)


def print_table(headings: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table whose last column fills the remaining width; without room it is left out."""
    console = open_console()
    rows = [tuple(map(clean, row)) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    if console.width < _BOUNDLESS:
        widths[1] = min(widths[1], _WIDEST_NAME)
    shown = len(headings)
    while shown > 2 and sum(widths[: shown - 1]) + _GAP * (shown - 1) + _LEAST > console.width:
        shown -= 1
    room = console.width - sum(widths[: shown - 1]) - _GAP * shown
    widths[shown - 1] = max(1, min(widths[shown - 1], room))
    table = Table(box=None, header_style="bold", padding=(0, _GAP, 0, 0), pad_edge=False)
    for index, heading in enumerate(headings[:shown]):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", width=widths[index])
    for row in rows:
        table.add_row(*(Text(cell, _COLORS.get(cell, "")) for cell in row[:shown]))
    console.print(table)


def open_console() -> Console:
    """Limit the width to the terminal or COLUMNS; pipes and files have no limit."""
    console = make_console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _BOUNDLESS
    return console


def write_line(call: dict[str, Any]) -> Text:
    """Write a call in one line."""
    status = Text(f"{call['status']:<17}", _COLORS.get(call["status"], ""))
    rest = f"  {call['name']}  {_how_long(call)}  {_what(call)}"
    return Text.assemble(f"{write_time(call['created_at'])}  {call['id']}  ", status, clean(rest))


def clean(text: str) -> str:
    """Replace characters that would move the cursor or hide text."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def write_time(text: str) -> str:
    """Write a time as a clock here shows it, of another day with the day."""
    time = datetime.fromisoformat(text).astimezone()
    return time.strftime("%H:%M:%S" if time.date() == datetime.now().astimezone().date() else "%Y-%m-%d %H:%M")


def _how_long(call: dict[str, Any]) -> str:
    milliseconds = call["duration_ms"]
    if milliseconds is None:
        return "-"
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def _what(call: dict[str, Any]) -> str:
    """Write why a call failed, and its arguments."""
    kind = "" if call["kind"] in (None, call["status"]) else f"{call['kind']} "
    return kind + ("" if call["args"] is None else write_args(call["args"]))


def _write_whole(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return "\n".join(map(clean, text.split("\n")))


def write_args(args: Any) -> str:
    """Write arguments as one line of JSON."""
    return json.dumps(args, ensure_ascii=False, separators=(", ", ": "))

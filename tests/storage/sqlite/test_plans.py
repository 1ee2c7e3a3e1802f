"""For nothing that a server repeats does SQLite read a growing table from end to end."""

import re
import sqlite3
from importlib.resources import files

import pytest

from sidecall.kernel.ports.call_entry import CallFilter, CallStatus
from sidecall.storage.database import write_where
from sidecall.storage.feature_tables import list_steps
from sidecall.storage.sqlite.database import strip_keys
from sidecall.storage.statements import read_statements

STATEMENTS = read_statements("sqlite")
# Tables that do not grow with use: `approvals` and `approval_rules` have a bound, `servers` has a row for each server,
# `caller_secrets` a few for each caller.
BOUNDED = {"approvals", "approval_rules", "servers", "caller_secrets"}
# Statements that read a whole table all the same, and why that is right.
WHOLE = {
    ("forget_contents", "contents"): "sums up what is kept, in an index, when contents are kept",
    ("find_surplus_conversation", "history_conversations"): "skips as many as are kept, in an index, once in a while",
    ("forget_audit_entries", "audit_entries"): "skips as many as are kept, in the index of its key, once in a while",
    ("console_forget_sessions", "console_sessions"): "looks at those of people who are logged in, at a log-in",
    ("give_up_members", "vector_store_files"): "once, when a server starts",
    ("list_oldest_history", "history_blocks"): "reads the first few in the order of its key",
    ("measure_history", "history_blocks"): "once, when the history is opened, or another server writes it too",
}
# What a list adds to a statement, with an index that fits.
FILLED = {
    "list_audit_entries": "WHERE tenant = 't' ORDER BY number DESC LIMIT 10",
    "read_call_args": "WHERE id IN ('a')",
    "read_call_texts": "WHERE id IN ('a')",
    "show_items": "1",
    "show_pieces": "1",
    "read_history_bodies": "('a', 1, 1)",
    "read_history_counts": "part = $9",
}
# What is written of each remembered call; many are forgotten by one statement.
WRITTEN = ("accept_call", "record_call", "finish_call")
LISTS = ("list_calls", "list_whole_calls")
PLAIN = {"tenant": "t"}
WANTED: dict[str, CallStatus] = {
    "queued": "queued",
    "running": "running",
    "awaiting": "awaiting_approval",
    "failed": "failed",
    "expired": "expired",
}


def _migrate(kind: str) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    folder = files("sidecall.storage") / "migrations" / kind
    for step in sorted(folder.iterdir(), key=lambda it: it.name):
        database.executescript(step.read_text(encoding="utf-8"))
    for steps in list_steps("sqlite").values() if kind == "sqlite" else ():
        database.executescript("".join(step.script for step in steps))
    return database


DATABASES = {kind: _migrate(kind) for kind in ("sqlite", "sqlite_files", "sqlite_history")}


def _plan(statement: str) -> list[str]:
    text = re.sub(r"\$(\d+)", r"?\1", statement)
    most = max(map(int, re.findall(r"\?(\d+)", text)), default=0)
    for database in DATABASES.values():
        try:
            return [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {text}", [None] * most)]
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
    raise AssertionError(f"no database has its tables: {statement}")


def _list_scans(plan: list[str]) -> set[str]:
    """List the tables that a plan reads whole; in the order of an index with a limit counts, too."""
    names = {name for (name,) in DATABASES["sqlite"].execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for kind in ("sqlite_files", "sqlite_history"):
        names |= {name for (name,) in DATABASES[kind].execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    found = {match[1] for step in plan if (match := re.match(r"SCAN (\w+)(?! VIRTUAL TABLE INDEX)\b", step))}
    return (found & names) - BOUNDED


@pytest.mark.parametrize("name", sorted(STATEMENTS.keys() - set(LISTS)))
def test_no_statement_reads_a_table_whole_that_grows(name: str) -> None:
    """Unless it says why."""
    statement = STATEMENTS[name].replace("{where}", FILLED.get(name, ""))

    assert _list_scans(_plan(statement)) == {table for known, table in WHOLE if known == name}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_of_each_call_takes_no_table_of_its_own(name: str) -> None:
    """As the condition of an index does that names a list of values: it is made at each write of a row."""
    statement = re.sub(r"\$(\d+)", r"?\1", strip_keys(STATEMENTS).get(name, STATEMENTS[name]))
    most = max(map(int, re.findall(r"\?(\d+)", statement)))

    steps = [row[1] for row in DATABASES["sqlite"].execute(f"EXPLAIN {statement}", [None] * most)]

    assert "OpenWrite" in steps
    assert "OpenEphemeral" not in steps


@pytest.mark.parametrize("statement", LISTS)
@pytest.mark.parametrize("status", WANTED)
@pytest.mark.parametrize(
    "beside", [{}, {"caller": "ann"}, {"names": ["one", "two"]}, {"caller": "ann", "names": ["one"]}]
)
def test_a_list_by_status_reads_calls_of_that_status_alone(statement: str, status: str, beside: dict[str, str]) -> None:
    """However many others there are, and what it is narrowed by beside that."""
    where, _ = write_where(CallFilter(tenant="t", status=WANTED[status], **beside), None)  # type: ignore[arg-type]

    plan = _plan(f"{STATEMENTS[statement].replace('{where}', where)} ORDER BY id DESC LIMIT 10")

    index = "calls_open" if WANTED[status] in ("queued", "running", "awaiting_approval") else "calls_by_"
    assert len(plan) == 1, plan
    assert plan[0].startswith(f"SEARCH calls USING INDEX {index}"), plan


@pytest.mark.parametrize("statement", LISTS)
@pytest.mark.parametrize("beside", [{}, {"status": "succeeded"}, {"names": ["one"]}, {"caller": "ann"}])
def test_a_list_by_what_failed_reads_no_more_than_an_index_finds(statement: str, beside: dict[str, str]) -> None:
    """However rare it is, and however many calls are remembered."""
    where, _ = write_where(CallFilter(tenant="t", kind="timeout", **beside), None)  # type: ignore[arg-type]

    plan = _plan(f"{STATEMENTS[statement].replace('{where}', where)} ORDER BY id DESC LIMIT 10")

    assert len(plan) == 1, plan
    assert plan[0].startswith("SEARCH calls USING INDEX calls_by_"), plan
    assert beside.keys() & {"names", "caller"} or "calls_by_kind" in plan[0], plan

"""Statements stand in files below their names, and each is used."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sidecall
from sidecall.storage.sqlite.database import strip_keys
from sidecall.storage.statements import parse_statements, read_statements

PACKAGE = Path(sidecall.__file__).parent
BOTH = """
-- About calls.

-- name: find_call
SELECT id
FROM calls  -- name it

-- name: add_call (sqlite)
-- It takes $1.
INSERT INTO calls VALUES ($1)
-- name: add_call (postgres)
INSERT INTO calls SELECT $1

-- name: lease_calls (postgres)
SELECT 1
"""
# A name in full, as a statement has it.
NAME = re.compile(r"[a-z]+(_[a-z]+)+")
# Statements of one kind of database alone, and why the other one has none.
OF_ONE = {"lease_calls": "a file is of one server, which counts for itself", "forget_call_rates": "as above"}
# What modules that use a database say beside statements.
OTHER_WORDS = {
    *("approval_id", "asked_args", "conversation_id", "created_at", "in_progress", "oldest_seconds", "output_error"),
    *("preview_error", "request_id", "tool_call", "trace_id"),
}
METRICS = "sidecall_"


def test_each_database_gets_the_statements_that_are_for_it() -> None:
    """Without the comments above them, so that each begins with what it does."""
    found = "SELECT id\nFROM calls  -- name it"

    assert parse_statements({"a": BOTH}, "sqlite") == {"find_call": found, "add_call": "INSERT INTO calls VALUES ($1)"}
    assert parse_statements({"a": BOTH}, "postgres") == {
        "find_call": found,
        "add_call": "INSERT INTO calls SELECT $1",
        "lease_calls": "SELECT 1",
    }
    assert parse_statements({"a": "", "b": "-- Nothing yet.\n"}, "sqlite") == {}


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["-- name: one\nSELECT 1", "-- name: one\nSELECT 2"], "1: one is in 0 already, for sqlite"),
        (["-- name: one\nSELECT 1\n-- name: one\nSELECT 2"], "0: one is in 0 already, for sqlite"),
        (["-- name: one\nSELECT 1\n-- name: one (postgres)\nSELECT 2"], "0: one is in 0 already, for postgres"),
        (["-- name: one (sqlite)\nSELECT 1\n-- name: one\nSELECT 2"], "0: one is in 0 already, for sqlite"),
        (["-- name: one (postgres)\nSELECT 1", "-- name: one (postgres)\nSELECT 2"], "1: one is in 0 already, for po"),
        (["-- name: one (mysql)\nSELECT 1"], "names no kind of database; those are sqlite and postgres"),
        (["-- name: one (sqlite, postgres)\nSELECT 1"], "names no statement; write -- name: find_call"),
        (["-- name: One\nSELECT 1"], "names no statement"),
        (["-- name:\nSELECT 1"], "names no statement"),
        (["--name: one\nSELECT 1"], "names no statement"),
        (["-- Name: one\nSELECT 1"], "names no statement"),
        (["-- name one\nSELECT 1"], "names no statement"),
        (["  -- name: one\nSELECT 1"], "names no statement"),
        (["SELECT 1\n-- name: one\nSELECT 2"], "no name stands above 'SELECT 1'"),
        (["SELECT 1"], "no name stands above 'SELECT 1'"),
        (["-- name: one"], "0: one has no statement"),
        (["-- name: one\n\n-- Not yet.\n-- name: two\nSELECT 1"], "0: one has no statement"),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_file_that_is_not_clear_is_refused(texts: list[str], told: str, dialect: str) -> None:
    """Also when what is wrong is for the other database."""
    with pytest.raises(ValueError, match=re.escape(told)):
        parse_statements({str(number): text for number, text in enumerate(texts)}, dialect)  # type: ignore[arg-type]


def test_both_databases_have_the_same_statements() -> None:
    """Except where one needs none."""
    assert read_statements("sqlite").keys() ^ read_statements("postgres").keys() == OF_ONE.keys()


def test_sqlite_is_spared_to_return_what_the_caller_knows() -> None:
    """To return a row takes several times as long as to write it."""
    ending = {name: text for name, text in read_statements("sqlite").items() if text.endswith("RETURNING id")}

    assert {"accept_call", "finish_call", "settle_call", "change_approval"} <= ending.keys()
    assert ending.keys() - strip_keys(ending).keys() == set()
    assert "RETURNING" not in "".join(strip_keys(ending).values())


def _list_strings(*folders: Path) -> set[str]:
    """List the texts in the code of folders."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for folder in folders for file in folder.rglob("*.py")]
    return {node.value for tree in trees for node in ast.walk(tree) if _is_string(node)}  # type: ignore[attr-defined]


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


QUERIES = sorted(PACKAGE.rglob("queries.sql"))


@pytest.mark.parametrize("file", QUERIES, ids=[file.parent.name for file in QUERIES])
def test_each_statement_is_used_by_its_feature(file: Path) -> None:
    """Or by the storage or the ledger, for it."""
    text = {"queries.sql": file.read_text(encoding="utf-8")}
    names = parse_statements(text, "sqlite").keys() | parse_statements(text, "postgres").keys()

    assert names
    assert names - _list_strings(file.parent, PACKAGE / "storage", PACKAGE / "features" / "ledger") == set()


def _uses_database(tree: ast.AST) -> bool:
    """Return whether code carries out statements."""
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(
        isinstance(function, ast.Attribute)
        and function.attr in ("read", "write", "write_all")
        and ast.unparse(function.value).endswith("database")
        for function in called
    )


def _walk_code(tree: ast.AST) -> Iterator[ast.AST]:
    """Give the nodes of a tree but those of types that list words."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal"):
            yield node
            yield from _walk_code(node)


def test_each_statement_that_is_used_exists() -> None:
    """Code that uses a database names statements, and little else."""
    known = read_statements("sqlite").keys() | read_statements("postgres").keys() | OTHER_WORDS
    unknown, using = set[tuple[str, str]](), 0
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if _uses_database(tree):
            using += 1
            texts = {node.value for node in _walk_code(tree) if _is_string(node)}  # type: ignore[attr-defined]
            names = {text for text in texts if NAME.fullmatch(text) and not text.startswith(METRICS)}
            unknown |= {(path.name, text) for text in names - known}

    assert using > 15
    assert unknown == set()

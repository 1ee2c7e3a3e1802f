"""`sidecall keys` makes keys, lists them without telling them, and revokes them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.features.access.api_keys import KeyFile, digest_key
from tests.cli.conftest import SidecallHere


def _run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["keys", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_a_new_key_is_printed_alone_and_kept_as_a_hash(here: Path) -> None:
    """In the default file, so that `KEY=$(sidecall keys new agent)` is all it takes."""
    code, out, err = _run("new", "agent")

    [kept] = KeyFile(here / ".sidecall/keys.jsonl").read()
    assert code == 0
    assert digest_key(out.strip()) == kept.sha256
    assert (kept.subject, kept.tenant, kept.scopes, kept.expires_at) == ("agent", "default", ("tools:call",), None)
    assert err == f"{kept.id} of agent (tools:call) is in .sidecall/keys.jsonl; this is it:\n"


def test_a_key_says_what_it_may_do_for_whom_and_until_when(here: Path) -> None:
    """In another file."""
    options = ("--tenant", "acme", "--scope", "calls:read", "--scope", "orders:write", "--expires", "90d")
    code, _, _ = _run("new", "auditor", *options, "--file", "mine")

    [kept] = KeyFile(here / "mine").read()
    assert (code, kept.tenant, kept.scopes) == (0, "acme", ("calls:read", "orders:write"))
    assert kept.expires_at is not None
    assert (kept.expires_at - kept.created_at).days in (89, 90)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "options", [("",), ("a", "--scope", "a b"), ("a", "--expires", "soon"), ("a", "--expires", "0d")]
)
def test_what_is_no_name_scope_or_span_is_refused(options: tuple[str, ...]) -> None:
    """Nothing is kept then."""
    code, out, _ = _run("new", *options)

    assert (code, out, KeyFile(Path(".sidecall/keys.jsonl")).read()) == (2, "", [])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((" a",), "a name has printable characters only, and no space at its ends; it is ' a'"),
        (("a", "--tenant", "b\n"), "a tenant has printable characters only, and no space at its ends; it is 'b\\n'"),
        (
            ("a", "--scope", "b c"),
            "a scope has no spaces, quotes and backslashes; give each its own --scope; it is 'b c'",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_words(options: tuple[str, ...], told: str) -> None:
    """Not as a pattern."""
    assert told in _run("new", *options)[2]


@pytest.mark.usefixtures("here")
def test_no_scope_is_left_out_where_the_terminal_is_narrow() -> None:
    """It goes on in the next line."""
    _run("new", "operator", "--scope", "approvals:decide_own", "--scope", "server:operate")

    table = CliRunner(env={"COLUMNS": "60"}).invoke(cli, ["keys", "list"]).stdout

    assert "…" not in table
    assert sum(map(table.count, "approvals:decide_own")) >= len("approvals:decide_own")


@pytest.mark.usefixtures("here")
def test_keys_are_listed_and_revoked() -> None:
    """Without keys and hashes; what was revoked stays in the list."""
    first = _run("new", "agent")[1].strip()
    _run("new", "root", "--scope", "*", "--expires", "1h")
    [kept, other] = json.loads(_run("list", "--json")[1])

    revoked = _run("revoke", kept["id"])
    table = _run("list")[1]

    assert (kept["subject"], "sha256" in kept, other["scopes"]) == ("agent", False, ["*"])
    assert revoked == (0, "", f"{kept['id']} opens nothing any more\n")
    assert "revoked 20" in table
    assert "valid until 20" in table
    assert first not in table + json.dumps([kept, other])


def test_a_key_that_there_is_not_cannot_be_revoked(sidecall_here: SidecallHere) -> None:
    """And the program says so."""
    result = sidecall_here("keys", "revoke", "key_none")

    assert result.returncode == 1
    assert "There is no key 'key_none' in .sidecall/keys.jsonl." in result.stderr

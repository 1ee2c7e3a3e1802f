"""Of a key its hash is kept, and it opens what it was made for until it ends."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from sidecall.features.access.api_keys import InvalidKeyFile, KeyFile, digest_key, mint_key
from sidecall.kernel.core.context import Caller

NOW = datetime.now(UTC)


def test_a_key_is_long_and_random_and_is_not_kept() -> None:
    """256 bits, with a beginning by which it is known for a key."""
    text, kept = mint_key("agent", "acme", ("tools:call",))

    assert re.fullmatch(r"sidecall_[A-Za-z0-9_-]{43}", text)
    assert text not in kept.model_dump_json()
    assert kept.sha256 == digest_key(text)
    assert kept.caller == Caller("agent", "acme", frozenset({"tools:call"}))
    assert mint_key("agent")[0] != mint_key("agent")[0]


@pytest.mark.parametrize(
    ("end", "is_valid"),
    [(None, True), (NOW + timedelta(hours=1), True), (NOW - timedelta(seconds=1), False)],
)
def test_a_key_ends_when_it_was_said(end: datetime | None, is_valid: bool) -> None:
    """Or never."""
    assert mint_key("agent", expires_at=end)[1].is_valid() is is_valid


def test_a_revoked_key_opens_nothing() -> None:
    """And stays revoked since it first was."""
    revoked = mint_key("agent")[1].revoke()

    assert not revoked.is_valid()
    assert revoked.revoke() is revoked


@pytest.mark.parametrize("name", ["", " agent", "agent ", "a\nb", "a\x1b[2J", "a" * 257])
def test_a_name_is_printable(name: str) -> None:
    """It stands in lists and logs."""
    with pytest.raises(ValidationError):
        mint_key(name)


@pytest.mark.parametrize("scope", ["", "a b", 'a"b', "a\\b", "ä"])
def test_a_scope_is_one_of_oauth(scope: str) -> None:
    """Several stand beside each other with spaces between them, and between quotes."""
    with pytest.raises(ValidationError):
        mint_key("agent", scopes=(scope,))


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    """For its owner only, in a folder that is made for it."""
    file = KeyFile(tmp_path / "new" / "keys.jsonl")
    first, second = mint_key("a", scopes=("x", "*"))[1], mint_key("b", "acme", expires_at=NOW)[1]

    file.change(lambda present: [*present, first])
    file.change(lambda present: [*present, second])

    assert file.read() == [first, second]
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.path.parent.iterdir()] == ["keys.jsonl"]


def test_no_file_has_no_keys(tmp_path: Path) -> None:
    """As long as nobody made one."""
    assert KeyFile(tmp_path / "none").read() == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("sidecall_secret", "line 2, is no key as `sidecall keys new` writes them: line: Invalid JSON"),
        ('{"id": "a"}', "line 2, is no key as `sidecall keys new` writes them: sha256: Field required"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    """With the line that is wrong, and nothing of what it says: it may be a key."""
    path = tmp_path / "keys"
    path.write_bytes(f"\n{text}\n".encode("utf-8", "surrogateescape"))

    with pytest.raises(InvalidKeyFile) as refused:
        KeyFile(path).read()

    assert complaint in refused.value.message
    assert refused.value.message.endswith("name another file of keys (SIDECALL_KEYS_FILE, or --file).")
    assert "secret" not in refused.value.message


def test_two_keys_of_one_id_are_refused(tmp_path: Path) -> None:
    """Nobody could say which one to revoke."""
    file, key = KeyFile(tmp_path / "keys"), mint_key("a")[1]
    file.change(lambda _: [key, key])

    with pytest.raises(InvalidKeyFile, match=f"several keys of the id {key.id}"):
        file.read()

"""A key in a request says who calls, as long as it is one of the file's."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.access.api_keys import ApiKeys, InvalidKeyFile, KeyFile, KeyRing, mint_key
from sidecall.features.access.auth_methods import Methods
from sidecall.http.authentication import BadCredential, Unauthenticated
from sidecall.kernel.core.context import Caller
from tests.kit.costs.steps import count_steps


class Clock:
    """Tell the time that a test wants."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return it."""
        return self.now


class Desk:
    """A file of keys, and who is known by it."""

    def __init__(self, folder: Path) -> None:
        self.file = KeyFile(folder / "keys.jsonl")
        self.clock = Clock()

    def add(self, subject: str) -> str:
        """Put a key into the file."""
        text, kept = mint_key(subject)
        self.file.change(lambda present: [*present, kept])
        return text

    def open(self) -> None:
        """Read the file."""
        self.ring = KeyRing(self.file, self.clock)
        self.keys = ApiKeys(self.ring, is_alone=True)

    def ask(self, *headers: tuple[str, str]) -> Caller | None:
        """Recognize a request with these headers."""
        return self.keys.recognize(_scope(*headers))


def _scope(*headers: tuple[str, str]) -> dict[str, Any]:
    return {"headers": [(name.encode(), value.encode("latin-1")) for name, value in headers]}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Give a desk."""
    return Desk(tmp_path)


def test_a_key_comes_in_one_of_two_headers(desk: Desk) -> None:
    """As a bearer token, or by itself."""
    key = desk.add("agent")
    desk.open()

    assert desk.ask(("authorization", f"Bearer {key}")) == Caller("agent")
    assert desk.ask(("authorization", f"bearer  {key} ")) == Caller("agent")
    assert desk.ask(("x-api-key", key)) == Caller("agent")
    assert desk.ask(("authorization", f"Basic {key}")) is None
    assert desk.ask() is None


def test_one_text_for_whatever_is_wrong(desk: Desk) -> None:
    """Unknown, changed, revoked, empty, two at once: nobody learns which keys there are."""
    key, gone = desk.add("agent"), desk.add("gone")
    desk.file.change(lambda present: [present[0], present[1].revoke()])
    desk.open()
    wrong = [
        [("x-api-key", mint_key("agent")[0])],
        [("x-api-key", key[:-1])],
        [("x-api-key", key.upper())],
        [("x-api-key", gone)],
        [("x-api-key", "")],
        [("x-api-key", "\xff\xfe")],
        [("authorization", "Bearer ")],
        [("x-api-key", key), ("x-api-key", key)],
        [("x-api-key", key), ("authorization", f"Bearer {key}")],
        [("authorization", f"Bearer {key}"), ("authorization", f"Bearer {key}")],
    ]
    said = set()

    for headers in wrong:
        with pytest.raises(BadCredential) as refused:
            desk.ask(*headers)
        said.add(refused.value.message)

    assert said == {"This server does not know the credential, or it is no longer valid."}


def test_two_keys_of_one_caller_are_valid_until_one_is_revoked(desk: Desk) -> None:
    """So that a key is changed without a break, and without a restart."""
    old = desk.add("agent")
    desk.open()
    new = desk.add("agent")
    desk.clock.now += 1

    assert [desk.ask(("x-api-key", key)) for key in (old, new)] == [Caller("agent")] * 2

    desk.file.change(lambda present: [present[0].revoke(), present[1]])
    desk.clock.now += 1

    assert desk.ask(("x-api-key", new)) == Caller("agent")
    with pytest.raises(BadCredential):
        desk.ask(("x-api-key", old))


def test_many_keys_are_read_again_with_few_steps(desk: Desk) -> None:
    """Those that have not changed were read before."""
    kept = mint_key("agent")[1]
    many = [kept.model_copy(update={"id": f"key_{number}", "sha256": f"{number:064x}"}) for number in range(1000)]
    desk.file.change(lambda _: many)
    desk.open()
    key = desk.add("another")
    desk.clock.now += 1

    steps, caller = count_steps(lambda: desk.ask(("x-api-key", key)))

    assert caller == Caller("another")
    assert steps < 20_000


def test_a_file_that_is_broken_while_it_is_edited_changes_nothing(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """What was read before stays valid, and the log says so once; a file that is gone has no keys."""
    key = desk.add("agent")
    desk.open()
    whole = desk.file.path.read_text()
    desk.file.path.write_text(whole[:20])
    for _ in range(3):
        desk.clock.now += 1
        assert desk.ask(("x-api-key", key)) == Caller("agent")

    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "the keys that were read before stay valid"
    ]

    os.unlink(desk.file.path)
    desk.clock.now += 1
    with pytest.raises(BadCredential):
        desk.ask(("x-api-key", key))


@pytest.mark.parametrize("lose", [os.unlink, lambda path: os.truncate(path, 0)])
def test_a_file_that_loses_all_its_keys_is_warned_of(
    desk: Desk, caplog: pytest.LogCaptureFixture, lose: Callable[[Path], None]
) -> None:
    """Once, with what to do; nobody can call from then on."""
    key = desk.add("agent")
    desk.open()
    lose(desk.file.path)
    for _ in range(3):
        desk.clock.now += 1
        with pytest.raises(BadCredential):
            desk.ask(("x-api-key", key))

    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f"no key in {desk.file.path} is valid any more, so nobody can call with one: put the file back "
        "(SIDECALL_KEYS_FILE), or make a key with `sidecall keys new NAME`; either is taken without a restart"
    ]


def test_a_file_that_is_broken_from_the_start_is_refused(desk: Desk) -> None:
    """Before anything is served."""
    desk.file.path.write_text("what")

    with pytest.raises(InvalidKeyFile):
        desk.open()


def test_beside_other_bearers_only_what_looks_like_a_key_is_one(desk: Desk) -> None:
    """What else comes as a bearer is for another method."""
    key = desk.add("agent")
    desk.open()
    keys = ApiKeys(desk.ring, is_alone=False)

    assert keys.recognize(_scope(("authorization", "Bearer eyJhbGciOi.e30.c2ln"))) is None
    assert keys.recognize(_scope(("authorization", f"Bearer {key}"))) == Caller("agent")


def test_without_any_credential_a_request_is_refused(desk: Desk) -> None:
    """With what to send."""
    desk.open()

    with pytest.raises(Unauthenticated, match="Authorization: Bearer"):
        Methods([desk.keys]).authenticate(_scope())

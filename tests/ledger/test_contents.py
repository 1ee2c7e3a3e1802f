"""Bodies are kept for a while, and never too many bytes of them."""

import re
from dataclasses import dataclass

import pytest

from sidecall.core.errors import UnknownArtifact
from sidecall.ledger.contents import MemoryArtifacts


@dataclass
class Clock:
    """Tell the time that a test says."""

    now: float = 0.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Let a test say what time it is."""
    return Clock()


@pytest.fixture
def artifacts(clock: Clock) -> MemoryArtifacts:
    """Keep up to ten bytes for a minute."""
    return MemoryArtifacts(60, 10, clock)


def _kept(artifacts: MemoryArtifacts, *keys: str | None) -> list[bytes | None]:
    return [_find(artifacts, key) for key in keys]


def _find(artifacts: MemoryArtifacts, key: str | None) -> bytes | None:
    try:
        return artifacts.get(key or "")
    except UnknownArtifact:
        return None


@pytest.mark.parametrize(
    ("text", "kept"),
    [("äöüäö", b"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6"), ("äöüäöü", None), ("abcdefghijk", None)],
)
def test_a_text_is_kept_as_bytes(artifacts: MemoryArtifacts, text: str, kept: bytes | None) -> None:
    """As many as there is room for, however few characters they are."""
    assert _kept(artifacts, artifacts.keep(text)) == [kept]


def test_a_body_is_found_by_its_id(artifacts: MemoryArtifacts) -> None:
    """As often as one likes."""
    key = artifacts.keep(b"abc")

    assert _kept(artifacts, key, key) == [b"abc", b"abc"]


def test_ids_cannot_be_guessed(artifacts: MemoryArtifacts) -> None:
    """They are random, and the same body has another each time."""
    keys = [artifacts.keep(b"a") or "" for _ in range(5)]

    assert len(set(keys)) == 5
    assert all(re.fullmatch(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", key) for key in keys)


@pytest.mark.parametrize("key", ["", "nope", "../etc/passwd", "\0"])
def test_what_was_never_kept_is_unknown(artifacts: MemoryArtifacts, key: str) -> None:
    """Whatever is asked for."""
    with pytest.raises(UnknownArtifact) as unknown:
        artifacts.get(key)

    assert unknown.value.message == "There is no such artifact, or it has expired."


@pytest.mark.parametrize(("now", "found"), [(59.9, b"abc"), (60.0, None), (61.0, None)])
def test_a_body_expires(artifacts: MemoryArtifacts, clock: Clock, now: float, found: bytes | None) -> None:
    """When its time has come."""
    key = artifacts.keep(b"abc")
    clock.now = now

    assert _kept(artifacts, key) == [found]


def test_each_body_expires_in_its_own_time(artifacts: MemoryArtifacts, clock: Clock) -> None:
    """Asking for one does not make it stay."""
    first = artifacts.keep(b"a")
    clock.now = 30
    second = artifacts.keep(b"b")
    artifacts.get(first or "")
    clock.now = 60

    assert _kept(artifacts, first, second) == [None, b"b"]


def test_the_oldest_go_when_there_is_no_room(artifacts: MemoryArtifacts) -> None:
    """As many as are needed, and no more."""
    keys = [artifacts.keep(body) for body in (b"aaaa", b"bbbb", b"cc")]
    before = _kept(artifacts, *keys)
    last = artifacts.keep(b"ddd")

    assert before == [b"aaaa", b"bbbb", b"cc"]
    assert _kept(artifacts, *keys, last) == [None, b"bbbb", b"cc", b"ddd"]


def test_a_body_may_take_all_the_room(artifacts: MemoryArtifacts) -> None:
    """The others go."""
    keys = [artifacts.keep(b"aaaa"), artifacts.keep(b"b" * 10)]

    assert _kept(artifacts, *keys) == [None, b"b" * 10]


def test_a_body_without_room_is_not_kept(artifacts: MemoryArtifacts) -> None:
    """And sends no other away."""
    first = artifacts.keep(b"aaaa")

    assert artifacts.keep(b"b" * 11) is None
    assert _kept(artifacts, first) == [b"aaaa"]


def test_the_room_of_the_expired_is_free(artifacts: MemoryArtifacts, clock: Clock) -> None:
    """Whether somebody asked for them or not."""
    artifacts.keep(b"a" * 9)
    clock.now = 60
    keys = [artifacts.keep(b"b" * 5), artifacts.keep(b"c" * 5)]

    assert _kept(artifacts, *keys) == [b"b" * 5, b"c" * 5]


def test_the_room_is_counted_right_for_ever(artifacts: MemoryArtifacts, clock: Clock) -> None:
    """After any number of bodies that came, expired and were sent away."""
    for number in range(200):
        clock.now += number % 7 * 5
        artifacts.keep(b"x" * (number % 12))
    keys = [artifacts.keep(b"a" * 5), artifacts.keep(b"b" * 5)]

    assert _kept(artifacts, *keys) == [b"a" * 5, b"b" * 5]


def test_without_room_nothing_is_kept() -> None:
    """An operator may want that."""
    assert MemoryArtifacts(60, 0).keep(b"a") is None


def test_by_default_there_is_room_for_an_hour_and_64_mebibytes() -> None:
    """On the clock that never goes back."""
    artifacts = MemoryArtifacts()
    key = artifacts.keep(b"a" * (64 * 1024 * 1024))

    assert artifacts.keep(b"a" * (64 * 1024 * 1024 + 1)) is None
    assert len(artifacts.get(key or "")) == 67108864

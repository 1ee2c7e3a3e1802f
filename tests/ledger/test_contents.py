"""Bodies are kept for a while, and never too many bytes of them."""

import re
from dataclasses import dataclass

import pytest

from sidecall.core.contents import KeptContent
from sidecall.core.errors import UnknownContent
from sidecall.ledger.contents import MemoryContents


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
def contents(clock: Clock) -> MemoryContents:
    """Keep up to ten bytes for a minute."""
    return MemoryContents(60, 10, clock)


async def _kept(contents: MemoryContents, *keys: str | None) -> list[bytes | None]:
    return [await _find(contents, key) for key in keys]


async def _find(contents: MemoryContents, key: str | None) -> bytes | None:
    try:
        return (await contents.get(key or "")).body
    except UnknownContent:
        return None


@pytest.mark.parametrize(
    ("text", "kept"),
    [("äöüäö", b"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6"), ("äöüäöü", None), ("abcdefghijk", None)],
)
async def test_a_text_is_kept_as_bytes(contents: MemoryContents, text: str, kept: bytes | None) -> None:
    """As many as there is room for, however few characters they are."""
    assert await _kept(contents, await contents.keep(text, "acme")) == [kept]


async def test_a_body_is_found_by_its_id(contents: MemoryContents) -> None:
    """As often as one likes."""
    key = await contents.keep(b"abc", "acme")

    assert await _kept(contents, key, key) == [b"abc", b"abc"]


async def test_a_content_says_whose_it_is(contents: MemoryContents) -> None:
    """And what it is called."""
    key = await contents.keep(b"abc", "acme")

    assert await contents.get(key or "") == KeptContent(key or "", "acme", b"abc")


async def test_ids_cannot_be_guessed(contents: MemoryContents) -> None:
    """They are random, and the same body has another each time."""
    keys = [await contents.keep(b"a", "acme") or "" for _ in range(5)]

    assert len(set(keys)) == 5
    assert all(re.fullmatch(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", key) for key in keys)


@pytest.mark.parametrize("key", ["", "nope", "../etc/passwd", "\0"])
async def test_what_was_never_kept_is_unknown(contents: MemoryContents, key: str) -> None:
    """Whatever is asked for."""
    with pytest.raises(UnknownContent) as unknown:
        await contents.get(key)

    assert unknown.value.message == "There is no such content, or it has expired."


@pytest.mark.parametrize(("now", "found"), [(59.9, b"abc"), (60.0, None), (61.0, None)])
async def test_a_body_expires(contents: MemoryContents, clock: Clock, now: float, found: bytes | None) -> None:
    """When its time has come."""
    key = await contents.keep(b"abc", "acme")
    clock.now = now

    assert await _kept(contents, key) == [found]


async def test_each_body_expires_in_its_own_time(contents: MemoryContents, clock: Clock) -> None:
    """Asking for one does not make it stay."""
    first = await contents.keep(b"a", "acme")
    clock.now = 30
    second = await contents.keep(b"b", "acme")
    await contents.get(first or "")
    clock.now = 60

    assert await _kept(contents, first, second) == [None, b"b"]


async def test_the_oldest_go_when_there_is_no_room(contents: MemoryContents) -> None:
    """As many as are needed, and no more."""
    keys = [await contents.keep(body, "acme") for body in (b"aaaa", b"bbbb", b"cc")]
    before = await _kept(contents, *keys)
    last = await contents.keep(b"ddd", "acme")

    assert before == [b"aaaa", b"bbbb", b"cc"]
    assert await _kept(contents, *keys, last) == [None, b"bbbb", b"cc", b"ddd"]


async def test_a_body_may_take_all_the_room(contents: MemoryContents) -> None:
    """The others go."""
    keys = [await contents.keep(b"aaaa", "acme"), await contents.keep(b"b" * 10, "acme")]

    assert await _kept(contents, *keys) == [None, b"b" * 10]


async def test_a_body_without_room_is_not_kept(contents: MemoryContents) -> None:
    """And sends no other away."""
    first = await contents.keep(b"aaaa", "acme")

    assert await contents.keep(b"b" * 11, "acme") is None
    assert await _kept(contents, first) == [b"aaaa"]


async def test_the_room_of_the_expired_is_free(contents: MemoryContents, clock: Clock) -> None:
    """Whether somebody asked for them or not."""
    await contents.keep(b"a" * 9, "acme")
    clock.now = 60
    keys = [await contents.keep(b"b" * 5, "acme"), await contents.keep(b"c" * 5, "acme")]

    assert await _kept(contents, *keys) == [b"b" * 5, b"c" * 5]


async def test_the_room_is_counted_right_for_ever(contents: MemoryContents, clock: Clock) -> None:
    """After any number of bodies that came, expired and were sent away."""
    for number in range(200):
        clock.now += number % 7 * 5
        await contents.keep(b"x" * (number % 12), "acme")
    keys = [await contents.keep(b"a" * 5, "acme"), await contents.keep(b"b" * 5, "acme")]

    assert await _kept(contents, *keys) == [b"a" * 5, b"b" * 5]


async def test_without_room_nothing_is_kept() -> None:
    """An operator may want that."""
    assert await MemoryContents(60, 0).keep(b"a", "acme") is None


async def test_by_default_there_is_room_for_an_hour_and_64_mebibytes() -> None:
    """On the clock that never goes back."""
    contents = MemoryContents()
    key = await contents.keep(b"a" * (64 * 1024 * 1024), "acme")

    assert await contents.keep(b"a" * (64 * 1024 * 1024 + 1), "acme") is None
    assert len((await contents.get(key or "")).body) == 67108864

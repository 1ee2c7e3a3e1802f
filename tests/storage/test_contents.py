"""Bodies are kept for a while, and never too many bytes of them."""

import asyncio
import re

import pytest

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import UnknownContent
from sidecall.kernel.ports.contents import JSON, TEXT, Contents, KeptContent, TooManyContents
from tests.kit.ledgers import Clock, Place

ANN, BOB = Caller("ann", "acme"), Caller("bob", "acme")


@pytest.fixture
def clock() -> Clock:
    """Let a test say what time it is."""
    return Clock()


@pytest.fixture
def contents(ledger: Place, clock: Clock) -> Contents:
    """Keep up to ten bytes for a minute."""
    return ledger.contents(60, 10, clock)


async def _kept(contents: Contents, *keys: str | None) -> list[bytes | None]:
    return [await _find(contents, key) for key in keys]


async def _find(contents: Contents, key: str | None) -> bytes | None:
    try:
        return (await contents.get(key or "", ANN)).body
    except UnknownContent:
        return None


@pytest.mark.parametrize(
    ("text", "kept"),
    [("äöüäö", b"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6"), ("äöüäöü", None), ("abcdefghijk", None)],
)
async def test_a_text_is_kept_as_bytes(contents: Contents, text: str, kept: bytes | None) -> None:
    """As many as there is room for, however few characters they are."""
    assert await _kept(contents, await contents.keep(text, ANN, TEXT)) == [kept]


async def test_a_body_is_found_by_its_id(contents: Contents) -> None:
    """As often as one likes."""
    key = await contents.keep(b"abc", ANN, TEXT)

    assert await _kept(contents, key, key) == [b"abc", b"abc"]


async def test_a_content_says_whose_it_is(contents: Contents) -> None:
    """And what it is called."""
    key = await contents.keep(b"abc", ANN, TEXT)

    assert await contents.get(key or "", ANN) == KeptContent(
        key or "", "acme", "ann", "text/plain; charset=utf-8", b"abc"
    )


async def test_ids_cannot_be_guessed(contents: Contents) -> None:
    """They are random, and the same body has another each time."""
    keys = [await contents.keep(b"a", ANN, TEXT) or "" for _ in range(5)]

    assert len(set(keys)) == 5
    assert all(re.fullmatch(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", key) for key in keys)


@pytest.mark.parametrize("key", ["", "nope", "../etc/passwd", "\0"])
async def test_what_was_never_kept_is_unknown(contents: Contents, key: str) -> None:
    """No matter what is asked for."""
    with pytest.raises(UnknownContent) as unknown:
        await contents.get(key, ANN)

    assert unknown.value.message == "There is no such content, or it has expired."


@pytest.mark.parametrize(("now", "found"), [(59.9, b"abc"), (60.0, None), (61.0, None)])
async def test_a_body_expires(contents: Contents, clock: Clock, now: float, found: bytes | None) -> None:
    """When its time has come."""
    key = await contents.keep(b"abc", ANN, TEXT)
    clock.now = now

    assert await _kept(contents, key) == [found]


async def test_each_body_expires_in_its_own_time(contents: Contents, clock: Clock) -> None:
    """Asking for one does not make it stay."""
    first = await contents.keep(b"a", ANN, TEXT)
    clock.now = 30
    second = await contents.keep(b"b", ANN, TEXT)
    await contents.get(first or "", ANN)
    clock.now = 60

    assert await _kept(contents, first, second) == [None, b"b"]


async def test_the_oldest_go_when_there_is_no_room(contents: Contents) -> None:
    """As many as are needed, and no more."""
    keys = [await contents.keep(body, ANN, TEXT) for body in (b"aaaa", b"bbbb", b"cc")]
    before = await _kept(contents, *keys)
    last = await contents.keep(b"ddd", ANN, TEXT)

    assert before == [b"aaaa", b"bbbb", b"cc"]
    assert await _kept(contents, *keys, last) == [None, b"bbbb", b"cc", b"ddd"]


async def test_a_body_may_take_all_the_room(contents: Contents) -> None:
    """The others go."""
    keys = [await contents.keep(b"aaaa", ANN, TEXT), await contents.keep(b"b" * 10, ANN, TEXT)]

    assert await _kept(contents, *keys) == [None, b"b" * 10]


async def test_a_body_without_room_is_not_kept(contents: Contents) -> None:
    """And sends no other away."""
    first = await contents.keep(b"aaaa", ANN, TEXT)

    assert await contents.keep(b"b" * 11, ANN, TEXT) is None
    assert await _kept(contents, first) == [b"aaaa"]


async def test_the_room_of_the_expired_is_free(contents: Contents, clock: Clock) -> None:
    """Whether somebody asked for them or not."""
    await contents.keep(b"a" * 9, ANN, TEXT)
    clock.now = 60
    keys = [await contents.keep(b"b" * 5, ANN, TEXT), await contents.keep(b"c" * 5, ANN, TEXT)]

    assert await _kept(contents, *keys) == [b"b" * 5, b"c" * 5]


async def test_the_room_is_counted_right_for_ever(contents: Contents, clock: Clock) -> None:
    """After any number of bodies that came, expired and were sent away."""
    for number in range(200):
        clock.now += number % 7 * 5
        await contents.keep(b"x" * (number % 12), ANN, TEXT)
    keys = [await contents.keep(b"a" * 5, ANN, TEXT), await contents.keep(b"b" * 5, ANN, TEXT)]

    assert await _kept(contents, *keys) == [b"a" * 5, b"b" * 5]


async def test_without_room_nothing_is_kept(ledger: Place, clock: Clock) -> None:
    """An operator may want that."""
    assert await ledger.contents(60, 0, clock).keep(b"a", ANN, TEXT) is None


@pytest.mark.parametrize(("most", "kept"), [(10, 10), (1000, 64), (4096 * 100, 100)])
async def test_small_bodies_are_not_too_many(ledger: Place, clock: Clock, most: int, kept: int) -> None:
    """Each costs more than its bytes."""
    contents = ledger.contents(60, most, clock)

    keys = [await contents.keep(b"a", ANN, TEXT) for _ in range(200)]

    assert await _kept(contents, *keys) == [None] * (200 - kept) + [b"a"] * kept


@pytest.mark.parametrize("media_type", [JSON, "application/pdf", 'text/csv; charset="utf-16"'])
async def test_a_content_says_what_it_is(contents: Contents, media_type: str) -> None:
    """As the one who kept it said."""
    key = await contents.keep(b"abc", ANN, media_type)

    assert (await contents.get(key or "", ANN)).media_type == media_type


STRANGERS = [Caller("bob", "acme"), Caller("ann", "other"), Caller()]


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_another_callers_content_is_unknown(contents: Contents, stranger: Caller) -> None:
    """As if it had never been, and it stays where it is."""
    key = await contents.keep(b"abc", ANN, TEXT) or ""

    for refused in (contents.get(key, stranger), contents.remove(key, stranger)):
        with pytest.raises(UnknownContent) as unknown:
            await refused
        assert unknown.value.message == "There is no such content, or it has expired."
    assert await _kept(contents, key) == [b"abc"]


async def test_a_content_can_be_removed(contents: Contents) -> None:
    """Once; its room is free, and the others stay."""
    keys = [await contents.keep(body, ANN, TEXT) or "" for body in (b"aaaa", b"bbbb", b"cc")]
    await contents.remove(keys[1], ANN)
    keys.append(await contents.keep(b"dddd", ANN, TEXT) or "")

    assert await _kept(contents, *keys) == [b"aaaa", None, b"cc", b"dddd"]
    for unknown in (keys[1], "\0"):
        with pytest.raises(UnknownContent):
            await contents.remove(unknown, ANN)


async def test_what_has_expired_cannot_be_removed(contents: Contents, clock: Clock) -> None:
    """It is gone already."""
    key = await contents.keep(b"abc", ANN, TEXT) or ""
    clock.now = 60

    with pytest.raises(UnknownContent):
        await contents.remove(key, ANN)


async def test_bounds_can_be_asked_for(contents: Contents) -> None:
    """By those who tell others."""
    assert (contents.ttl, contents.quota) == (60, 10)


@pytest.fixture
def shared(ledger: Place, clock: Clock) -> Contents:
    """Keep up to twenty bytes, of which one caller has ten."""
    return ledger.contents(60, 20, clock, 10)


async def test_a_caller_has_a_quota(shared: Contents, clock: Clock) -> None:
    """Beyond it nothing is sent until something expires or is removed; nobody else is touched."""
    bobs = await shared.keep(b"b" * 10, BOB, TEXT, is_sent=True) or ""
    first = await shared.keep(b"aaaaaa", ANN, TEXT, is_sent=True) or ""
    clock.now = 20
    with pytest.raises(TooManyContents) as full:
        await shared.keep(b"aaaaa", ANN, TEXT, is_sent=True)
    second = await shared.keep(b"aaaa", ANN, TEXT, is_sent=True)

    assert (full.value.retry_after, shared.quota) == (40, 10)
    assert full.value.message == (
        "Bytes of contents that one caller may keep: 10. Delete some, or wait until they expire."
    )
    assert await shared.keep(b"a" * 11, ANN, TEXT, is_sent=True) is None
    assert await _kept(shared, first, second) == [b"aaaaaa", b"aaaa"]
    assert (await shared.get(bobs, BOB)).body == b"b" * 10
    await shared.remove(first, ANN)
    third = await shared.keep(b"aaaaa", ANN, TEXT, is_sent=True)
    clock.now = 80
    fourth = await shared.keep(b"a" * 10, ANN, TEXT, is_sent=True)
    assert await _kept(shared, second, third, fourth) == [None, None, b"a" * 10]


async def test_what_was_cut_takes_the_place_of_its_callers_oldest(shared: Contents) -> None:
    """An answer that was cut cannot be sent again; another caller's stay."""
    bobs = await shared.keep(b"b" * 10, BOB, TEXT) or ""
    keys = [await shared.keep(body, ANN, TEXT) for body in (b"aaaa", b"cccc", b"dddd", b"ee")]

    assert await _kept(shared, *keys) == [None, b"cccc", b"dddd", b"ee"]
    assert (await shared.get(bobs, BOB)).body == b"b" * 10


async def test_many_at_once_stay_within_the_quota(shared: Contents) -> None:
    """Also where none of them knows of the others."""
    sent = await asyncio.gather(
        *(shared.keep(b"aaa", ANN, TEXT, is_sent=True) for _ in range(20)), return_exceptions=True
    )
    keys = [key for key in sent if isinstance(key, str)]

    assert len(keys) == 3
    assert {type(refused) for refused in sent if not isinstance(refused, str)} == {TooManyContents}
    assert await _kept(shared, *keys) == [b"aaa"] * len(keys)

"""What is for one place at one time crosses together, in its order."""

import asyncio

import pytest

from sidecall.features.fleet.frames import MOST_BYTES
from sidecall.features.fleet.publisher import Publisher


class _Post:
    """Takes letters, and holds up the first until it is told to go on."""

    def __init__(self) -> None:
        """Be slow."""
        self.letters: list[tuple[str, bytes]] = []
        self.is_taken, self.is_open = asyncio.Event(), asyncio.Event()

    async def publish(self, place: str, letter: bytes) -> None:
        """Take a letter."""
        self.letters.append((place, letter))
        self.is_taken.set()
        await self.is_open.wait()


async def _send(*messages: tuple[str, bytes], later: tuple[str, bytes] | None = None) -> list[tuple[str, bytes]]:
    post = _Post()
    publisher = Publisher(post.publish)
    publisher.open()
    for place, body in messages:
        publisher.add(place, body)
    await post.is_taken.wait()
    if later is not None:  # While a letter is under way.
        publisher.add(*later)
    post.is_open.set()
    await publisher.wait_until_sent()
    await publisher.close()
    return post.letters


@pytest.mark.parametrize(
    ("messages", "later", "letters"),
    [
        ([("a", b"1"), ("b", b"2"), ("a", b"3")], None, [("a", b"13"), ("b", b"2")]),
        ([("a", b"1"), ("b", b"2")], ("a", b"3"), [("a", b"1"), ("b", b"2"), ("a", b"3")]),
        ([("a", b"x" * 40_000), ("a", b"y" * 40_000), ("a", b"z")], None, None),
    ],
    ids=["by their places", "what comes while one is sent", "many bytes"],
)
async def test_what_is_sent_together_is_one_letter(
    messages: list[tuple[str, bytes]], later: tuple[str, bytes] | None, letters: list[tuple[str, bytes]] | None
) -> None:
    """For each place, and of so many bytes at most."""
    if letters is None:
        letters = [("a", b"x" * 40_000), ("a", b"y" * 40_000 + b"z")]
    assert await _send(*messages, later=later) == letters


async def test_a_message_that_is_too_large_is_refused_at_once() -> None:
    """The others go."""
    publisher = Publisher(_Post().publish)
    with pytest.raises(ValueError, match="17,825,793 bytes, and 17,825,792 at most"):
        publisher.add("a", bytes(MOST_BYTES + 1))
    assert await _send(("a", bytes(MOST_BYTES))) == [("a", bytes(MOST_BYTES))]

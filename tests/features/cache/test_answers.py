"""What is kept of answers has bounds."""

import time

from sidecall.features.cache.answers import KeptAnswer, KeptAnswers
from tests.kit.tools import ping

TOOL = ping.compiled


def make_answer(size: int = 488) -> KeptAnswer:
    """Make an answer that takes a thousand bytes, with what stands beside its text."""
    return KeptAnswer(b"x" * size, time.monotonic(), is_success=True, attempts=0)


def keep_all(kept: KeptAnswers, *keys: bytes) -> None:
    """Keep an answer under each of these keys."""
    for key in keys:
        kept.keep(key, TOOL, 60, make_answer())


def list_found(kept: KeptAnswers, *keys: bytes) -> list[bytes]:
    """List the keys that have an answer."""
    return [key for key in keys if kept.find(key, TOOL, None)]


def test_those_that_were_not_asked_for_longest_go_first() -> None:
    """Where there are too many."""
    kept = KeptAnswers(1_000_000, 2)
    keep_all(kept, b"a", b"b")
    kept.find(b"a", TOOL, None)

    keep_all(kept, b"c")

    assert list_found(kept, b"a", b"b", b"c") == [b"a", b"c"]


def test_bytes_are_bounded() -> None:
    """With what an answer takes beside its text; one that is put in the place of another frees that one's."""
    kept = KeptAnswers(2000, 100)
    keep_all(kept, b"a", b"b", b"b", b"b")
    assert (kept.size, len(kept)) == (2000, 2)

    keep_all(kept, b"c")

    assert (kept.size, list_found(kept, b"a", b"b", b"c")) == (2000, [b"b", b"c"])


def test_one_that_is_larger_than_all_the_room_is_not_kept() -> None:
    """The one before it is not given any more, and others stay."""
    kept = KeptAnswers(2000, 100)
    keep_all(kept, b"a", b"b")

    kept.keep(b"a", TOOL, 60, make_answer(2000))

    assert (kept.size, list_found(kept, b"a", b"b")) == (1000, [b"b"])


def test_nothing_is_kept_without_room() -> None:
    """Of bytes, or of answers."""
    for kept in (KeptAnswers(0, 10), KeptAnswers(10_000, 0)):
        keep_all(kept, b"a")
        assert (len(kept), kept.size) == (0, 0)


def test_a_tool_that_was_loaded_again_does_not_find_what_it_said_before() -> None:
    """Its code may be another one now."""
    kept = KeptAnswers(10_000, 10)
    keep_all(kept, b"a")
    again = ping.model_copy(update={"description": "KeptAnswer otherwise."}).compiled

    assert kept.find(b"a", again, None) is None
    assert kept.size == 0

"""Connections are torn in a way that can be repeated, and what two readers saw of them is compared strictly."""

import pytest

from trials.hostile.framing import Reading, Request, compare, read_with_h11
from trials.hostile.torn_requests import Torn, tear

SEEDS = range(300)
ONE, OTHER = Request(b"POST", b"/", (), b"{}"), Request(b"POST", b"/", (b"ceo",), b"{}")
SENT = b"POST /a?b HTTP/1.1\r\nHost: a\r\nX-Who: me\r\nContent-Length: 2\r\n\r\n{}"


def test_a_number_stands_for_one_connection() -> None:
    """What is found can be looked at again."""
    assert [tear(seed) for seed in SEEDS] == [tear(seed) for seed in SEEDS]


def test_pieces_are_all_that_is_sent() -> None:
    """With each cut; some are right in everything, and most places are cut."""
    torn = [tear(seed) for seed in SEEDS]

    assert all(b"".join(it.pieces).lstrip(b"\r\n") == it.sent.lstrip(b"\r\n") for it in torn)
    assert all(all(it.pieces) for it in torn)
    assert 50 < sum(not it.oddities for it in torn) < 250
    assert len({len(it.pieces[0]) for it in torn}) > 100


def test_the_reference_reads_what_is_framed() -> None:
    """Up to what it cannot read."""
    read = read_with_h11(SENT + b"\r\n" + SENT + b"nonsense\r\n\r\n" + SENT)

    assert read.requests == [Request(b"POST", b"/a?b", (b"me",), b"{}")] * 2
    assert read.is_refused


@pytest.mark.parametrize(
    ("ours", "reference", "oddities", "expected"),
    [
        pytest.param(Reading([ONE]), Reading([ONE]), (), "", id="the same"),
        pytest.param(Reading([ONE, OTHER]), Reading([ONE]), (), "more requests", id="one more"),
        pytest.param(Reading([OTHER]), Reading([ONE]), (), "another request", id="of somebody else"),
        pytest.param(Reading([ONE, OTHER]), Reading([ONE]), ("two spaces",), "", id="one more, as is known"),
        pytest.param(Reading([]), Reading([ONE]), (), "fewer requests, although the connection is open", id="hanging"),
        pytest.param(
            Reading([], is_closed=True), Reading([ONE]), (), "stricter for no known reason", id="refused for nothing"
        ),
        pytest.param(Reading([], is_closed=True), Reading([ONE]), ("a fold",), "", id="refused for a fold"),
    ],
)
def test_what_differs_is_said(ours: Reading, reference: Reading, oddities: tuple[str, ...], expected: str) -> None:
    """A request that nobody else has seen above all."""
    ours.statuses = [b"200"] * len(ours.requests)
    torn = Torn((), b"", frozenset(oddities), is_slow=False, is_unread=False, is_hung_up=False)

    assert compare(torn, ours, reference) == expected

"""The fuzzer sends what a number stands for, reads what comes back, and sums it up."""

from collections import Counter

import pytest

from trials.hostile.fuzz import Tally, statuses_in
from trials.hostile.mutations import attempt
from trials.schemathesis import Conformance, read_report

SEEDS = range(300)
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
PROBLEM = b"HTTP/1.1 404 Not Found\r\ncontent-type: application/problem+json\r\n\r\n{}"
PLAIN = b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\n\r\nno"
CRASH = b"HTTP/1.1 500 Internal Server Error\r\ncontent-type: application/problem+json\r\n\r\n{}"


def test_a_number_stands_for_one_attempt() -> None:
    """What is found can be sent again."""
    assert [attempt(seed) for seed in SEEDS] == [attempt(seed) for seed in SEEDS]


def test_attempts_differ() -> None:
    """Or a hundred thousand would be one."""
    assert len({attempt(seed).pieces for seed in SEEDS}) > 290


def test_where_answers_are_owed_the_requests_are_complete() -> None:
    """Each has a start line and the host that HTTP/1.1 wants."""
    owed = [made for made in map(attempt, SEEDS) if made.owed is not None]

    assert len(owed) > 150
    assert all(made.owed == made.requests for made in owed)
    assert all(b"".join(made.pieces).count(b"\r\nHost: localhost\r\n") >= made.requests for made in owed)


def test_nothing_is_sent_in_empty_pieces() -> None:
    """They would be no read of their own."""
    assert all(all(made.pieces) for made in map(attempt, SEEDS))


@pytest.mark.parametrize(
    ("received", "statuses"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(OK + PROBLEM, [200, 404], id="two answers"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" + OK, [200], id="a promise and an answer"),
        pytest.param(OK[:20], [200], id="half an answer"),
        pytest.param(b"HTTP/1.1 GET", [], id="what is no answer"),
    ],
)
def test_answers_are_told_from_each_other(received: bytes, statuses: list[int]) -> None:
    """Several may arrive at once."""
    assert statuses_in(received) == statuses


@pytest.mark.parametrize(
    ("received", "bad"),
    [
        pytest.param(OK + PROBLEM, {}, id="as it should be"),
        pytest.param(OK + CRASH, {7: "answered with 500"}, id="a crash"),
        pytest.param(PROBLEM + PLAIN, {7: "an error that is no problem+json"}, id="an error in plain text"),
    ],
)
def test_what_must_not_be_is_kept_by_its_number(received: bytes, bad: dict[int, str]) -> None:
    """So that it can be sent again."""
    tally = Tally()

    tally.read(7, received)

    assert tally.bad == bad


def test_answers_are_counted_by_status() -> None:
    """Over all connections."""
    tally = Tally()

    counts = [tally.read(seed, OK + PROBLEM) for seed in range(3)]

    assert counts == [2, 2, 2]
    assert tally.statuses == Counter({200: 3, 404: 3})


@pytest.mark.parametrize(
    ("failures", "errors", "found", "holds"),
    [
        ([], [], (), True),
        ([{"title": "Wrong", "operations": ["GET /a", "GET /b"]}], [], ("Wrong: GET /a, GET /b",), False),
        ([], [{"title": "Runtime Error"}], ("Runtime Error",), False),
    ],
)
def test_a_report_of_schemathesis_is_read(
    failures: list[dict[str, object]], errors: list[dict[str, object]], found: tuple[str, ...], holds: bool
) -> None:
    """What broke off counts as well as what was wrong."""
    said = read_report({"failures": failures, "errors": errors, "test_cases": {"generated": 12}})

    assert said == Conformance(12, found)
    assert said.holds is holds

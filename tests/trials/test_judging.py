"""How answers are summed up and judged."""

import pytest

from bench.rounds import milliseconds, percentile
from tests.kit.lines import Answer
from trials.judging import is_refusal, is_success, quantiles, span, tally
from trials.soak import edges, is_flat

PROBLEM = {"content-type": "application/problem+json", "retry-after": "1"}


def test_a_percentile_is_one_of_the_figures() -> None:
    """The smallest that as many do not exceed."""
    figures = [5.0, 1.0, 4.0, 2.0, 3.0]

    assert [percentile(figures, share) for share in (0.0, 0.5, 0.8, 0.99, 1.0)] == [1.0, 3.0, 4.0, 5.0, 5.0]


def test_short_times_have_a_digit_more() -> None:
    """Of long ones nobody needs it."""
    assert [milliseconds(0.00312), milliseconds(0.0567), milliseconds(1.2345)] == ["3.1 ms", "57 ms", "1,234 ms"]


def test_times_are_summed_up() -> None:
    """By what bars are about."""
    answers = [Answer(10.0, 10.0 + number / 1000, 200) for number in range(1, 101)]

    assert quantiles(answers) == "p50 50 ms, p99 99 ms, largest 100 ms"
    assert quantiles([]) == "none"


@pytest.mark.parametrize(
    ("times", "expected"),
    [pytest.param([0.5], "0.50 s", id="one"), pytest.param([0.7, 0.51], "0.51 to 0.70 s", id="two")],
)
def test_a_span_has_two_ends(times: list[float], expected: str) -> None:
    """Unless there is only one."""
    assert span(times) == expected


def test_answers_are_counted_by_status_and_missing_ones_by_reason() -> None:
    """A reset is no status."""
    answers = [Answer(0, 1, 200), Answer(0, 1, 503), Answer(0, 1, 200), Answer(0, 1, failure="reset")]

    assert tally(answers) == "1 reset, 2 with 200, 1 with 503"
    assert tally([]) == "none"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(Answer(0, 1, 503, PROBLEM), True, id="as it should be"),
        pytest.param(Answer(0, 1, 503, {"content-type": "application/problem+json"}), False, id="no Retry-After"),
        pytest.param(Answer(0, 1, 503, {**PROBLEM, "content-type": "text/plain"}), False, id="no problem"),
        pytest.param(Answer(0, 1, 429, PROBLEM), False, id="another status"),
        pytest.param(Answer(0, 1, failure="reset"), False, id="no answer"),
    ],
)
def test_a_refusal_says_when_to_come_back(answer: Answer, expected: bool) -> None:
    """Everything else is no clean 503."""
    assert is_refusal(answer) is expected


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        pytest.param(200, b'{"status": "success"}', True, id="success"),
        pytest.param(200, b'{"status": "error"}', False, id="the tool failed"),
        pytest.param(202, b'{"status": "success"}', False, id="another status"),
        pytest.param(200, b"[]", False, id="a list"),
        pytest.param(200, b"{", False, id="cut off"),
    ],
)
def test_a_success_is_said_twice(status: int, body: bytes, expected: bool) -> None:
    """By the status of the answer and that of the message."""
    assert is_success(Answer(0, 1, status, {}, body)) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b'{"response_metadata": {"error": {"kind": "timeout"}}}', "timeout", id="a failed call"),
        pytest.param(b'{"type": "urn:sidecall:problem:overloaded"}', "overloaded", id="a problem"),
        pytest.param(b'{"type": "tool", "response_metadata": {}}', "", id="a success"),
        pytest.param(b"[1]", "", id="a list"),
    ],
)
def test_an_answer_tells_its_kind(body: bytes, expected: str) -> None:
    """No matter what failed."""
    assert Answer(0, 1, 200, {}, body).kind == expected


def test_memory_is_compared_by_the_medians_of_both_ends() -> None:
    """So that one odd second changes nothing."""
    figures = [100.0] * 9 + [900.0] + [50.0] * 20 + [108.0] * 9 + [0.0]

    assert edges(figures) == (100.0, 108.0)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        pytest.param(110.0, True, id="a tenth more"),
        pytest.param(111.0, False, id="over a tenth more"),
        pytest.param(89.0, False, id="over a tenth less"),
    ],
)
def test_flat_is_within_a_tenth(last: float, expected: bool) -> None:
    """In both directions."""
    assert is_flat(100.0, last) is expected

"""What wrk says is read, and counted only when every answer was right."""

import httpx
import pytest
import respx

from bench.environments import Unavailable
from bench.load import NoAnswer, Pace, Request, new_client, read_pace, verify

URL = "http://peer.test"


def _said(**given: int) -> str:
    figures = {"requests": 5000, "microseconds": 1000000, "p50": 1500, "p99": 4250, "refused": 0, "broken": 0, **given}
    return "Running 1s test\n\n{" + ", ".join(f'"{name}": {value}' for name, value in figures.items()) + "}\n"


def test_a_pace_counts_calls_rather_than_requests() -> None:
    """A batch of 20 is 20 calls."""
    assert read_pace(_said(), 20, (0.375, 0.125)) == Pace(100000.0, 1.5, 4.25, 5.0, beside_us=1.25)


@pytest.mark.parametrize("failure", ["refused", "broken"])
def test_a_row_with_failures_counts_for_nothing(failure: str) -> None:
    """Errors are often quicker than answers."""
    with pytest.raises(Unavailable, match="1"):
        read_pace(_said(**{failure: 1}), 1, None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(httpx.Response(500, text="oops"), "answers 500 oops", id="error"),
        pytest.param(httpx.Response(200, json={"value": 4}), 'answers wrongly: {"value":4}', id="wrong result"),
        pytest.param(httpx.Response(200, text="<html>"), "answers wrongly: <html>", id="not JSON"),
        pytest.param(httpx.ConnectError("refused"), "does not answer: ConnectError", id="no answer"),
    ],
)
@respx.mock
def test_a_wrong_answer_is_found_before_timing(answer: httpx.Response | Exception, reason: str) -> None:
    """The reason goes into the report."""
    respx.post(f"{URL}/add").mock(side_effect=[answer])

    with new_client() as client, pytest.raises(Unavailable) as failure:
        verify(client, URL, Request("/add", '{"a": 1, "b": 2}', ("value",), 3))

    assert str(failure.value) == reason


@respx.mock
def test_a_right_answer_may_be_a_bare_value() -> None:
    """As mcpo gives it."""
    respx.post(f"{URL}/add").respond(json=3)

    with new_client() as client:
        answer = verify(client, URL, Request("/add", '{"a": 1, "b": 2}', (), 3))

    assert answer.json() == 3


def test_a_turn_without_an_answer_is_not_measured() -> None:
    """It has no pace; the row is driven once more, and then left out."""
    with pytest.raises(NoAnswer, match="no request was answered"):
        read_pace(_said(requests=0), 1, (0.0, 0.0))

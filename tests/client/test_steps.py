"""What was refused before it ran is sent again; what may have run only where that does nothing twice."""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from sidecall.client import RequestRefused, ServerBusy, ServerFailed, ServerUnreachable
from sidecall.client.retries import Persistence, send
from sidecall.client.steps import Pausing, Sending, Walk

PLAIN = Sending("POST", "/tool_calls")
SAFE = Sending("POST", "/tool_calls", is_safe=True)


def refuse(status: int, slug: str, seconds: int | None = None) -> httpx.Response:
    """Write the answer of a server that refuses."""
    headers = {} if seconds is None else {"Retry-After": str(seconds)}
    return httpx.Response(status, json={"type": f"urn:sidecall:problem:{slug}", "detail": "No."}, headers=headers)


BUSY = refuse(503, "overloaded", 2)
QUOTA = refuse(429, "quota-exceeded", 3)
ENDING = refuse(503, "shutting-down", 1)
PROXY = httpx.Response(502, text="<h1>Bad gateway</h1>")
LOST = httpx.ReadError("lost")
NOBODY = httpx.ConnectError("refused")
GOOD = httpx.Response(200, json=[])


def play(request: Sending, outcomes: Sequence[Any], persistence: Persistence) -> tuple[Any, list[float]]:
    """Send a request to whom these outcomes come from; return the answer or error, and the waits."""
    left, waits = list(outcomes), []
    try:
        walk = Walk(send(request, persistence))
        while not walk.has_ended:
            if isinstance(walk.step, Pausing):
                waits.append(walk.step.seconds)
                walk.go_on()
            elif isinstance(outcome := left.pop(0), Exception):
                walk.fail(outcome)
            else:
                walk.go_on(outcome)
    except (RequestRefused, ServerUnreachable) as error:
        return error, waits
    assert not left
    return walk.result, waits


@pytest.mark.parametrize(
    ("request_", "outcomes", "expected"),
    [
        (PLAIN, [GOOD], GOOD),
        (PLAIN, [BUSY, QUOTA, GOOD], GOOD),
        (PLAIN, [NOBODY, GOOD], GOOD),
        (PLAIN, [LOST], ServerUnreachable),
        (PLAIN, [ENDING], ServerBusy),
        (PLAIN, [PROXY], ServerFailed),
        (PLAIN, [refuse(500, "internal-error")], ServerFailed),
        (SAFE, [LOST, ENDING, PROXY, GOOD], GOOD),
        (SAFE, [refuse(500, "tool-call-failed")], ServerFailed),
        (SAFE, [BUSY] * 5, ServerBusy),
        (SAFE, [LOST] * 5, ServerUnreachable),
        (SAFE, [refuse(429, "quota-exceeded", 61)], ServerBusy),
    ],
)
def test_only_what_is_safe_is_sent_again(request_: Sending, outcomes: list[Any], expected: Any) -> None:
    """Up to four times, and not for longer than the program wants to wait."""
    answer, waits = play(request_, outcomes, Persistence())

    assert answer is expected or type(answer) is expected
    assert len(waits) == len(outcomes) - 1


def test_the_wait_is_what_the_server_wants_else_it_doubles() -> None:
    """Spread a little, so that not all clients come back at once."""
    _, wanted = play(PLAIN, [BUSY, QUOTA, GOOD], Persistence())
    _, doubled = play(SAFE, [LOST, LOST, LOST, GOOD], Persistence())

    assert [round(wait) for wait in wanted] == [2, 3]
    assert [low <= wait <= 2 * low for wait, low in zip(doubled, (0.125, 0.25, 0.5), strict=True)] == [True] * 3


def test_an_answer_that_is_no_problem_is_quoted() -> None:
    """No matter who on the way has written it."""
    error, _ = play(PLAIN, [PROXY], Persistence())

    assert (error.status, error.slug, error.detail) == (502, "", "<h1>Bad gateway</h1>")

"""Who is sent away is told when to come again."""

from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.overload import Overloaded, QuotaExceeded, TooManyCalls
from sidecall.kernel.core.quota import Quota


def test_an_overload_says_why_and_for_how_long() -> None:
    """In seconds."""
    error = Overloaded("3 calls wait already.", retry_after=7)

    assert (error.message, error.retry_after) == ("3 calls wait already.", 7)
    assert error.members == {"retryable": True, "retry_after": 7}


def test_a_caller_with_too_many_calls_meets_an_overload_of_its_own() -> None:
    """A program that deals with the one deals with the other; both are for the calling program."""
    assert TooManyCalls.__mro__[1:3] == (Overloaded, RequestError)


def test_a_caller_without_calls_left_meets_another() -> None:
    """Which says what the quota is, and when there is a call again."""
    quota = Quota(most=100, seconds=60, left=0, more_in=17)
    error = QuotaExceeded(quota)

    assert isinstance(error, TooManyCalls)
    assert (error.retry_after, error.quotas) == (17, (quota,))
    assert error.message == "Calls that one caller may make in 60 s: 100. The next one may come in 17 s."


def test_they_have_titles() -> None:
    """As every problem has."""
    assert (Overloaded.__doc__, TooManyCalls.__doc__, QuotaExceeded.__doc__) == (
        "The server runs as many calls as it may.",
        "You run as many calls as one caller may.",
        "You have made as many calls as one caller may in this time.",
    )

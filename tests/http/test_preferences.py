"""What a client says in `Prefer` and `Idempotency-Key` is read, or refused."""

import pytest

from sidecall.http.preferences import InvalidPreference, make_preferences


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("wait=0", 0.0),
        ("wait=7", 7.0),
        ("wait=60", 60.0),
        ("wait=61", 60.0),
        ("wait=999999999", 60.0),
        ("wait=1000000000", 60.0),
        ("wait=99999999999999999999999", 60.0),
        (f"wait={'9' * 5000}", 60.0),
        ("wait=00000000000007", 7.0),
    ],
)
def test_nobody_waits_longer_than_the_server_lets_them(prefer: str, seconds: float) -> None:
    """However large the number is."""
    assert make_preferences(prefer, None, 60.0).wait == seconds


@pytest.mark.parametrize(
    "prefer", ["wait", "wait=", "wait=-1", "wait=1.5", "wait=+1", "wait=1e1", "wait=soon", "wait=٣"]
)
def test_what_is_no_whole_number_is_refused(prefer: str) -> None:
    """With a right one."""
    with pytest.raises(InvalidPreference, match="takes a whole number of seconds, such as `Prefer: wait=10`"):
        make_preferences(prefer, None, 60.0)

"""What a client says in `Prefer` and `Idempotency-Key` is read, or refused."""

import re

import pytest

from sidecall.http.preferences import PARAMETERS, InvalidKey, InvalidPreference, make_preferences

[PATTERN] = [it["schema"]["pattern"] for it in PARAMETERS if it["name"] == "Idempotency-Key"]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("order-4711", "order-4711"),
        ('"order-4711"', "order-4711"),
        ('a"b', 'a"b'),
        ('a"', 'a"'),
        (r'"a\"b\\"', 'a"b\\'),
        (r"a\b", r"a\b"),
        ('"  "', "  "),
        ("~" * 255, "~" * 255),
        (f'"{"~" * 255}"', "~" * 255),
        ("", None),
        ('"', None),
        ('""', None),
        ('"open', None),
        ('"a"b"', None),
        (r'"a\b"', None),
        ('"a";x=1', None),
        ("é", None),
        ("a\tb", None),
        ("~" * 256, None),
        (f'"{"~" * 256}"', None),
    ],
)
def test_the_document_describes_the_keys_that_are_taken(sent: str, key: str | None) -> None:
    """Bare and in double quotes; others are refused."""
    assert (re.search(PATTERN, sent) is not None) == (key is not None)
    if key is None:
        with pytest.raises(InvalidKey):
            make_preferences("", sent, 60.0)
    else:
        assert make_preferences("", sent, 60.0).key == key


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


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ('note="a, b"; x="y", wait=5', 5.0),
        (r'note="a \" , wait=3", wait=5', 5.0),
        ('wait=5, note="a, wait=3', 5.0),
        ('note="a, wait=5', None),
        ('"' + '\\"' * 16_000 + ", wait=5", None),
        ('"' + "\\" * 31_001 + ", wait=5", None),
    ],
)
def test_a_quoted_text_that_does_not_end_goes_to_the_end(prefer: str, seconds: float | None) -> None:
    """It is read once, however many quotation marks are in it."""
    assert make_preferences(prefer, None, 60.0).wait == seconds

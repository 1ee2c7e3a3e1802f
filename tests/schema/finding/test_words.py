"""Words are read in one form each."""

import pytest

from sidecall.schema.finding.words import read_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sendMail", ["send", "mail"]),
        ("list_open_orders", ["list", "open", "order"]),
        ("HTTP-Requests, 2 of them", ["http", "request", "2", "of", "them"]),
        ("cities, boxes, classes, class, bus, gas", ["city", "box", "class", "class", "bus", "gas"]),
        ("Größe naïve 天気", ["grösse", "naïve", "天気"]),
        ("", []),
    ],
)
def test_a_text_is_read_as_words(text: str, words: list[str]) -> None:
    """In lower case, humps apart, one for many."""
    assert read_words(text) == words

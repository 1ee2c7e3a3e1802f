"""Words are read, and their forms are one."""

import pytest

from sidecall.features.search.index import find_stems, read_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sendMail", ["send", "mail"]),
        ("list_open_orders", ["list", "open", "orders"]),
        ("HTTP-Requests, 2 of them", ["http", "requests", "2", "of", "them"]),
        ("Größe naïve 天気", ["grösse", "naïve", "天気"]),
        ("", []),
    ],
)
def test_a_text_is_read_as_words(text: str, words: list[str]) -> None:
    """In lower case, humps apart."""
    assert read_words(text) == words


@pytest.mark.parametrize(
    ("forms", "stem"),
    [
        ("refund refunds refunded refunding", "refund"),
        ("invoice invoices invoiced invoicing", "invoic"),
        ("archive archives archived archiving", "archiv"),
        ("city cities", "citi"),
        ("class classes", "class"),
        ("box boxes", "box"),
        ("bus", "bus"),
        ("news", "news"),
        ("grösse", "grösse"),
        ("天気", "天気"),
        ("2", "2"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: str, stem: str) -> None:
    """That of English."""
    assert set(find_stems(forms.split()).values()) == {stem}

"""Texts are cut where a reader would pause, and no character is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecall.features.vector_stores.chunking import cut_text


def test_a_short_text_is_one_piece() -> None:
    """As it is."""
    assert cut_text("one\n\ntwo\n") == ["one\n\ntwo"]
    assert cut_text(" \n") == []


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("aaaa bbbb cccc\n# Head\ndd", ["aaaa bbbb cccc", "# Head\ndd"]),
        ("aaaaaaa aaaa\n\nbbbb bbb. cccc", ["aaaaaaa aaaa", "bbbb bbb. cccc"]),
        ("aaaa aaaaa. Bbbb bbbb bbb", ["aaaa aaaaa.", "Bbbb bbbb bbb"]),
        ("a" * 45, ["a" * 20, "a" * 20, "a" * 5]),
    ],
)
def test_it_is_cut_at_the_best_place(text: str, pieces: list[str]) -> None:
    """A heading before an empty line, before a sentence, before a word."""
    assert cut_text(text, 20, 0) == pieces


@given(st.text(alphabet="ab .\n#", max_size=400), st.integers(2, 60), st.integers(0, 30))
def test_every_word_is_in_a_piece(text: str, piece: int, overlap: int) -> None:
    """And none is longer than it may be."""
    pieces = cut_text(text, piece, min(overlap, piece // 2))

    assert all(0 < len(found) <= piece for found in pieces)
    assert all(found in text for found in pieces)
    joined = "".join(pieces)
    for letter in "ab.#":
        assert joined.count(letter) >= text.count(letter)


def test_too_much_overlap_is_refused() -> None:
    """It would never end."""
    with pytest.raises(ValueError, match="half of a piece"):
        cut_text("text", 10, 6)

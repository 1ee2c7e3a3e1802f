"""Texts and queries are words, by which pieces are found; nothing in a query is syntax."""

import pytest

from sidecall.features.vector_stores.index import split_words, strip_ending, write_piece_words, write_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Grey herons", ["grey", "herons"]),
        ("readFile2, HTTPServer_error", ["read", "file", "2", "http", "server", "error"]),
        ("don't", ["don", "t"]),
        ("Straße été_là", ["straße", "été", "là"]),
        ("e\u0301te\u0301 \ufb01sh", ["été", "fish"]),
        ("__init__ _ 12ab 3.5", ["init", "12ab", "3", "5"]),
        ("日本語", ["日本語"]),
    ],
)
def test_a_text_is_split(text: str, words: list[str]) -> None:
    """Names of programs into their parts."""
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('the "heron" AND (owl OR text:x*)', '"heron" OR "owl" OR "text" OR "x"'),
        ("***", ""),
        ("of the", '"of" OR "the"'),
        ("Heron heron", '"heron"'),
        ("\ud800x", '"x"'),
        (" ".join(map(str, range(100))), " OR ".join(f'"{number}"' for number in range(64))),
    ],
)
def test_a_query_is_words(query: str, words: str) -> None:
    """Each once, and not too many."""
    assert write_words(query) == words


def test_the_first_words_stand_apart() -> None:
    """With the title; where they are marked, all are."""
    text = " ".join(map(str, range(32)))
    head, lead, rest = write_piece_words("my file", text, "x")

    assert head == "xmy xfile x0 x1 x2 x3 x4 x5 x6 x7 x8 x9"
    assert (lead.split()[0], lead.split()[-1], rest) == ("x10", "x29", "x30 x31")
    assert write_piece_words("", "") == ("", "", "")


@pytest.mark.parametrize(
    ("name", "stem"), [("a/b.md", "a/b"), ("a.b/c", "a.b/c"), (".hidden", ".hidden"), ("x.tar.gz", "x.tar")]
)
def test_a_name_is_taken_without_its_ending(name: str, stem: str) -> None:
    """Which would be found by who looks for "text"."""
    assert strip_ending(name) == stem

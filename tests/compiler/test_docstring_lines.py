"""Lines are joined where a sentence goes on, and nowhere else."""

import pytest

from sidecall.compiler.docstrings import join_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One line.", "One line."),
        ("A sentence that\ngoes on. And\nanother.", "A sentence that goes on. And another."),
        ("First\nparagraph.\n\nSecond\nparagraph.", "First paragraph.\n\nSecond paragraph."),
        ("Modes:\n- fast\n- slow\n  and careful\n", "Modes:\n- fast\n- slow and careful\n"),
        ("Steps:\n1. one\n   goes on\n2) two", "Steps:\n1. one goes on\n2) two"),
        ("- outer\n  - inner\n    goes on", "- outer\n  - inner goes on"),
        ("Keys:\n\nname: The name\nage: The age", "Keys:\n\nname: The name\nage: The age"),
        ("Units are\nas follows:\ntonnes", "Units are as follows:\ntonnes"),
        ("Call it:\n\n    f(1)\n    f(2)\n\nand\nso on", "Call it:\n\n    f(1)\n    f(2)\n\nand so on"),
        ("See\n```\na\nb\n```\nand\nmore", "See\n```\na\nb\n```\nand more"),
        ("Example\n>>> f()\n3", "Example\n>>> f()\n3"),
        ("| a | b |\n| 1 | 2 |", "| a | b |\n| 1 | 2 |"),
        ("Kept  \nbreak", "Kept  \nbreak"),
        ("Title\n=====\nText\nhere", "Title\n=====\nText here"),
    ],
)
def test_a_sentence_is_one_line(text: str, expected: str) -> None:
    """Paragraphs, lists, tables, keys and code stay."""
    assert join_sentences(text) == expected

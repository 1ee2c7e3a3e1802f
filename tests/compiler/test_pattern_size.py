"""The size of a pattern is known before it is compared with anything."""

import pytest

from sidecall.compiler.pattern_size import measure_growth, measure_pattern


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("a{3}b", 4),
        ("a{3,}|b", 5),
        ("a{,3}", 3),
        ("a{", 2),
        ("a*+?", 1),
        ("(ab){3}", 6),
        ("(a{3}", 3),
        (")a{3}", 4),
        ("a{9}{9}{9}", 729),
        ("(?:a{1,50}){1,50}b", 2551),
        ("(?:(?:a{1,50}){1,50}){1,50}b", 127_551),
        ("(){500}{500}", 250_000),
        (r"\{{3}\p{L}{4}\x{61}{2}", 21),
        ("[a{9}]{3}[]a]{3}[^]a]{3}[[:alpha:]b]{3}", 12),
        # Where spaces are ignored, and where comments are.
        ("(?x) a { 50 }", 102),
        ("(?x)a#(\n{50}", 600),
    ],
)
def test_the_size_of_a_pattern_counts_what_is_repeated(pattern: str, size: int) -> None:
    """Rather too much than too little."""
    assert measure_pattern(pattern) == size


@pytest.mark.parametrize(("pattern", "growth"), [("a{3}b", 2), ("abc*", 0), (r"\pL{2}", 6), ("(a|b){2}{2}", 6)])
def test_its_growth_is_what_repetitions_and_classes_add(pattern: str, growth: int) -> None:
    """What it has without them is bounded by its length."""
    assert measure_growth(pattern) == growth

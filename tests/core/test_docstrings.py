"""Docstrings in every common style say the same thing."""

import pytest

from app.core.docstrings import Docstring, Style, detect_style, parse_docstring

GOOGLE = """Add numbers.

    In any order.

    Args:
        a (int): The first,
            or the only one.
        *b: The others.
        c:

    Returns:
        int: The sum.

    Raises:
        ValueError: Never.
    """
GLUED = """Add numbers.
    Args:
        a: The first.
    Returns:
        The sum.
    """
NUMPY = """Add numbers.

    Parameters
    ----------
    a : int
        The first.

    Other Parameters
    ----------------
    b
        The others.

    Returns
    -------
    int
        The sum.
    """
SPHINX = """Add numbers.

    :param a: The first.
    :param int b: The others.
    :type a: int
    :returns: The sum.
    """


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            GOOGLE,
            Docstring(
                "Add numbers.\n\nIn any order.", {"a": "The first,\nor the only one.", "b": "The others."}, "The sum."
            ),
            id="google",
        ),
        pytest.param(GLUED, Docstring("Add numbers.", {"a": "The first."}, "The sum."), id="no blank line before Args"),
        pytest.param(NUMPY, Docstring("Add numbers.", {"a": "The first.", "b": "The others."}, "The sum."), id="numpy"),
        pytest.param(
            SPHINX, Docstring("Add numbers.", {"a": "The first.", "b": "The others."}, "The sum."), id="sphinx"
        ),
        pytest.param("Add: numbers.", Docstring("Add: numbers."), id="text alone"),
        pytest.param("\n    Args:\n        a: The first.\n    ", Docstring("", {"a": "The first."}), id="no text"),
        pytest.param(None, Docstring(), id="none"),
        pytest.param("  \n ", Docstring(), id="blank"),
    ],
)
def test_a_docstring_is_split_into_text_parameters_and_result(text: str | None, expected: Docstring) -> None:
    """The style is detected."""
    assert parse_docstring(text, ("a", "b", "c")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOGLE, "google"),
        (NUMPY, "numpy"),
        (SPHINX, "sphinx"),
        # nothing to tell by
        ("Add numbers.", "google"),
    ],
)
def test_the_style_is_told_from_the_headings(text: str, expected: Style) -> None:
    """Google is assumed when there are none."""
    assert detect_style(text) == expected


def test_a_style_that_is_given_is_not_guessed() -> None:
    """What another style would read as a section stays text."""
    parsed = parse_docstring("Add.\n\n:param a: The first.", ("a",), "google")

    assert parsed == Docstring("Add.\n\n:param a: The first.")

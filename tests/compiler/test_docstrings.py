"""Docstrings in every common style say the same thing."""

import pytest

from sidecall.compiler.docstrings import parse_docstring
from sidecall.compiler.griffe_docstrings import detect_style
from sidecall.compiler.plain_docstrings import Docstring, DocstringStyle

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
def test_the_style_is_told_from_the_headings(text: str, expected: DocstringStyle) -> None:
    """Google is assumed when there are none."""
    assert detect_style(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("S.\n\n:return: x\n\nArgs:\n    a: A", "sphinx", id="Sphinx before Google on a tie"),
        pytest.param("S.\n\nReturns\n-------\nx\n\nArgs:\n    a: A", "numpy", id="NumPy before Google on a tie"),
        pytest.param("S.\n\n:param a: A\n:param b: B\n\nArgs:\n    a: A\n\nReturns:\n    x", "google", id="by kinds"),
        pytest.param("S.\n\n:arg a: A\n:returns: x", "sphinx", id="other names of fields"),
        pytest.param("S.\n\n:returns: x\n\nArgs:\n    a: A", "google", id="which count less"),
        pytest.param("S.\n\nOther Parameters\n----------------\na", "numpy", id="other heading"),
        pytest.param("S.\n\nParameters\n--\na : int", "google", id="two dashes are no heading"),
    ],
)
def test_a_docstring_of_many_styles_is_told_by_kinds_of_headings(text: str, expected: DocstringStyle) -> None:
    """The OpenAI Agents SDK tells by the same."""
    assert detect_style(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "S.\n\n:param a: A.\n\nArgs:\n    a: other\n    b: B.", {"a": "A.", "b": "B."}, id="Sphinx and Google"
        ),
        pytest.param(
            "S.\n\nArgs:\n    a: A.\n\nRaises:\n    E: x\n\n:param a: other\n:param b: B.",
            {"a": "A.", "b": "B."},
            id="Google and Sphinx",
        ),
        pytest.param(
            "S.\n\nParameters\n----------\na : int\n    A.\n\nArgs:\n    b: B.",
            {"a": "A.", "b": "B."},
            id="NumPy and Google",
        ),
    ],
)
def test_mixed_styles_are_read_each_on_its_own(text: str, expected: dict[str, str]) -> None:
    """No section is lost, none ends up in the text of another."""
    assert parse_docstring(text, ("a", "b")) == Docstring("S.", expected)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("S.\nArgs:\n    a: A.\nKeyword Args:\n    b: B.\n", id="no blank line above"),
        pytest.param("S.\nargs:\n    a: A.\n    b: B.\n", id="lower case"),
        pytest.param("S.\n\nArgs:\n\n    a: A.\n\n    b: B.\n", id="blank lines below"),
        pytest.param("S.\n\nArgs:\na: A.\nb: B.\n\nReturns:\n", id="not indented"),
        pytest.param("S.\n\nArgs:\na: A.\n\nb: B.\n", id="not indented, with blank lines"),
        pytest.param("S.\n\nOther Parameters:\n    a: A.\n    **b: B.\n", id="other parameters"),
        pytest.param("S.\n\nParameters  \n  ---\na: int\n    A.\n*b\n    B.\n", id="a padded NumPy heading"),
        pytest.param("S.\n\n:keyword a: A.\n:arg \\*b: B.\n\n:meta x:\n", id="a field that no reader sees"),
        pytest.param("S.\n\n:param a:\n    A.\n:param list[int] b: B.\n", id="Sphinx, on the next line"),
    ],
)
def test_careless_layout_loses_nothing(text: str) -> None:
    """Sections that the parser would take for text are put right before."""
    assert parse_docstring(text, ("a", "b")) == Docstring("S.", {"a": "A.", "b": "B."})


def test_sections_may_begin_on_the_first_line() -> None:
    """Cleaning takes the items' indent away then."""
    parsed = parse_docstring("Args:\n        a: A,\n            more.\n        b: B.\n    ", ("a", "b"))

    assert parsed == Docstring("", {"a": "A,\nmore.", "b": "B."})


def test_a_style_that_is_given_is_not_guessed() -> None:
    """What another style would read as a section stays text."""
    parsed = parse_docstring("Add.\n\n:param a: The first.", ("a",), "google")

    assert parsed == Docstring("Add.\n\n:param a: The first.")

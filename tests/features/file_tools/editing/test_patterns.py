"""Patterns match as models expect, in time that no pattern can stretch."""

import pytest

from sidecall.features.file_tools.editing.searching import compile_glob, compile_pattern
from sidecall.kernel.core.errors import ToolException


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("src/**", "src/deep/a.py", True),
        ("src/**", "srcs/a.py", False),
        ("src/**/a.py", "src/a.py", True),
        ("src/*/a.py", "src/a.py", False),
        ("./src/?.py", "src/a.py", True),
        ("?", "ab", False),
        ("[ab].py", "a.py", True),
        ("[!ab].py", "a.py", False),
        ("[!ab].py", "c.py", True),
        ("[a-c]", "b", True),
        ("[]a]", "]", True),
        ("[&~^]", "^", True),
        ("[", "[", True),
        ("*.{py,js}", "a.js", True),
        ("*.{py,js}", "a.css", False),
        ("{a,b{c,d}}", "bd", True),
        ("{a", "{a", True),
        ("a,b", "a,b", True),
        ("a.b", "axb", False),
        ("*", ".hidden", True),
        ("**", "a/b", True),
        ("h\u00e9*", "h\u00e9ron", True),
        ("a b+(c)$", "a b+(c)$", True),
    ],
)
def test_globs(pattern: str, path: str, matches: bool) -> None:
    """As in shells with `**`."""
    assert compile_glob(pattern)(path) is matches


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "a/../b", "", ".", "[z-a]"])
def test_globs_that_lead_out_are_refused(pattern: str) -> None:
    """And those that cannot be read."""
    with pytest.raises(ToolException):
        compile_glob(pattern)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)b", "look-around, including look-ahead and look-behind, is not supported"),
        (r"(a)\1", "backreferences are not supported"),
        ("(", "unclosed group"),
    ],
)
def test_what_is_no_expression_is_said(pattern: str, reason: str) -> None:
    """With its reason."""
    with pytest.raises(ToolException) as refused:
        compile_pattern(pattern)

    assert refused.value.message == f"The pattern is no regular expression: {reason}."


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}$", "(x+x+)+y"])
def test_no_expression_takes_for_ever(pattern: str) -> None:
    """With one that backtracks, each of these would take longer than the test may."""
    assert not compile_pattern(pattern)("a" * 2000 + "!" + "x" * 50)


def test_a_long_pattern_is_refused() -> None:
    """It would take long to compile."""
    with pytest.raises(ToolException, match="The pattern is too long: it may have 1000 characters"):
        compile_pattern("a" * 1001)


def test_a_long_pattern_may_have_small_repetitions() -> None:
    """What it has without them is bounded by its length."""
    assert compile_pattern("|".join("abcdefgh" for _ in range(100)) + r"|\d{4}-\w{1,40}")("2026-x")


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:(?:a{1,50}){1,50}){1,50}b",
        "(?:a{1,90}){1,90}b",
        r"\w{2000}",
        r"\pL" * 333,
        r"\p{L}" * 200,
        r"\pL{90}",
        r"[^\W]{90}",
    ],
)
def test_a_pattern_that_becomes_large_is_refused(pattern: str) -> None:
    """All threads wait while a line is looked at, for ten seconds with the first of these."""
    with pytest.raises(ToolException, match="The pattern is too large: its repetitions and classes may add 250 char"):
        compile_pattern(pattern)

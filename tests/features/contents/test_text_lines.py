"""Lines of a text are found by number and by what they hold, and no answer is large."""

import pytest

from sidecall.features.contents.snippets import MOST_CHARACTERS, LineRange, Snippet, cut_lines, find_lines

LONG = "a" * 100_000


def test_a_line_that_does_not_fit_is_cut() -> None:
    """What comes after it can be had."""
    found = cut_lines(f"one\n{LONG}\nthree\n", LineRange(2, None))

    note = "\n[… 34464 characters of line 2 left out: look into them with grep=word; read on with lines=3- …]\n"
    assert found == Snippet("a" * MOST_CHARACTERS + note, LineRange(3, None))


def test_what_comes_after_a_line_that_is_cut_ends_where_it_was_to_end() -> None:
    """As what comes after whole lines does; nothing comes after the last that is wanted."""
    text = f"{LONG}\ntwo\nthree\nfour\n"

    assert [cut_lines(text, LineRange(1, last)).rest for last in (3, 1)] == [LineRange(2, 3), None]
    assert cut_lines(text, LineRange(2, 3)).text == "two\nthree\n"


@pytest.mark.parametrize(("more", "rest"), [("", None), ("two\n", LineRange(2, None))])
def test_the_end_of_a_line_takes_no_room(more: str, rest: LineRange | None) -> None:
    """Nothing is left out of one that fits without it."""
    line = "a" * MOST_CHARACTERS + "\n"

    found = cut_lines(f"{line}{more}", LineRange())

    assert found == Snippet(line + ("" if rest is None else "[… read on with lines=2- …]\n"), rest)


@pytest.mark.parametrize(
    ("text", "ways"),
    [(LONG, "grep=word"), (f"[{LONG[1:]}", "grep=word or path=$…"), (f"{{{LONG[1:]}", "grep=word or path=$…")],
)
def test_the_only_line_is_cut(text: str, ways: str) -> None:
    """There is nothing after it, and no lines lead to the rest of it."""
    found = cut_lines(text, LineRange())

    assert found.text.endswith(f"\n[… 34464 characters of line 1 left out: look into them with {ways} …]\n")
    assert found.rest is None


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("a\nbab\n\nb", "b", "2:bab\n4:b\n"),
        (f"one\n{LONG}X{LONG}\n", "X", f"2:…{'a' * 200}X{'a' * 200}…\n"),
        (f"X{LONG}X", "X", f"1:X{'a' * 200}…\n1:…{'a' * 200}X\n"),
        ("", "b", ""),
    ],
)
def test_lines_are_shown_with_their_numbers(text: str, word: str, found: str) -> None:
    """Of long ones what is around."""
    assert find_lines(text, word, LineRange()).text == found


@pytest.mark.parametrize(
    ("text", "word"), [("STRASSE ÄÖ", "äö"), ("İstanbul x", "X"), ("ΟΔΟΣ", "οδος"), ("οδος", "ΟΔΟΣ")]
)
def test_case_can_be_ignored_in_every_script(text: str, word: str) -> None:
    """What is shown is what stands there."""
    assert find_lines(text, word, LineRange(), ignore_case=True).text == f"1:{text}\n"


def test_more_than_enough_in_one_line_is_said() -> None:
    """There is no line to go on with."""
    found = find_lines("ab" * 100_000, "a", LineRange())

    assert found.rest is None
    assert found.text.endswith("\n[… more of it in line 1; look for something longer …]\n")


def test_what_is_found_in_later_lines_can_be_had() -> None:
    """Also where the last line that is shown holds more of it; none of its own come again."""
    one, many = "b\n" * 99, f"b{'-' * 1000}b\n"

    found = find_lines(f"{one}{many}-\nb\n", "b", LineRange(1, 105))
    alone = find_lines(f"{one}{many}-\n-\n", "b", LineRange())

    assert found.text.endswith(
        "\n[… more of it in line 100; look for something longer; read on with lines=102-105 …]\n"
    )
    assert found.rest == LineRange(102, 105)
    assert alone.text.endswith("\n[… more of it in line 100; look for something longer …]\n")
    assert alone.rest is None

"""What is for the log alone is kept short."""

from typing import Any

import pytest

from sidecall.kernel.core.log_text import format_error, join_traceback, shorten


def test_a_short_text_stays_as_it_is() -> None:
    """Up to the limit itself."""
    assert shorten("a" * 65_536) == "a" * 65_536


def test_of_a_long_text_head_and_tail_are_kept() -> None:
    """With how much is missing between them."""
    assert shorten("abcdefghij", 4) == "ab\n[… 6 characters left out …]\nij"


def test_a_long_exception_leaves_room_for_the_lines_around_it() -> None:
    """Each part of a traceback is shortened, and then the whole."""
    text = join_traceback(["first\n", "x" * 100_000, "\nlast\n"])
    long = join_traceback(["y" * 8192] * 9)

    assert text.startswith("first\nxxx")
    assert text.endswith("xxx\nlast\n")
    assert len(text) == 8192 + len("first\n\n[… 91808 characters left out …]\n\nlast\n")
    assert long.count("[… 8192 characters left out …]") == 1


class Unreadable(Exception):
    """Crashes when it is read."""

    def __str__(self) -> str:
        raise RuntimeError


def _raise(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except BaseException as raised:
        return raised


_LONG = "x\n" * 1_000_000


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (_raise(ValueError("short")), ["ValueError: short"]),
        (_raise(ValueError(_LONG)), ["ValueError: x", "[… 1991808 characters left out …]"]),
        (_raise(KeyError("a"), ValueError(_LONG)), ["ValueError: x", "KeyError: 'a'", "was the direct cause"]),
        (
            _raise(ExceptionGroup("both", [ValueError(_LONG), KeyError("a")])),
            ["both (2 sub-exceptions)", "ValueError: x"],
        ),
        (_raise(Unreadable()), ["test_text.Unreadable: "]),
    ],
    ids=["short", "long", "cause", "group", "unreadable"],
)
def test_a_long_text_of_an_error_is_shortened_before_it_is_written(error: Any, lines: list[str]) -> None:
    """Also that of what it was raised from; where it was raised is there as ever."""
    text = "".join(format_error(error))

    assert len(text) < 40_000
    assert [line for line in lines if line not in text] == []
    assert "in _raise" in text


def test_a_secret_is_hidden_before_a_text_is_cut() -> None:
    """Else half of it might stay."""
    error = ValueError("x" * 4090 + "secret" + "x" * 1_000_000)

    assert "sec" not in "".join(format_error(error, None, lambda text: text.replace("secret", "?")))

"""What is for the log alone is kept short."""

from sidecall.telemetry.text import join_traceback, shorten


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

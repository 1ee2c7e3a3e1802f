"""A misspelt name is recognised, and no other is taken for one."""

import time

import pytest

from sidecall.kernel.suggest.fuzzy_match import find_nearest, find_resembling, find_same


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("maxResults", ["max_results"]),
        ("Max-Results", ["max_results"]),
        ("MAX RESULTS", ["max_results"]),
        ("max_result", []),
        ("_", []),
    ],
)
def test_names_in_other_letters_are_the_same(name: str, same: list[str]) -> None:
    """Case and separators say nothing."""
    assert find_same(name, ["max_results", "_", "query"]) == same


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        ("ctiy", ["city", "days"], "city"),
        ("cities", ["city", "days"], "city"),
        ("expresion", ["expression"], "expression"),
        ("max", ["query", "max_results"], "max_results"),
        ("results", ["query", "max_results"], "max_results"),
        ("max_result_count", ["max_results"], "max_results"),
        ("query_text", ["query"], "query"),
        ("temp_unit", ["unit"], "unit"),
        ("from_date", ["date_from"], "date_from"),
        ("qty", ["quantity"], "quantity"),
        ("lat", ["latitude", "longitude"], "latitude"),
        ("desc", ["description"], "description"),
        ("userId", ["user_name", "user_id"], "user_id"),
        # other words
        ("a", ["b"], None),
        ("to", ["cc"], None),
        ("date", ["rate"], None),
        ("name", ["game"], None),
        ("limit", ["max_results"], None),
        ("reason", ["city", "days", "units"], None),
        ("country", ["city"], None),
        ("", ["a"], None),
    ],
)
def test_a_name_resembles_what_it_was_meant_to_be(name: str, names: list[str], expected: str | None) -> None:
    """By a few letters, a part of its words, or an abbreviation."""
    assert find_resembling(name, names) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("serch_web", ["search_web", "search_files"]),
        ("search_internet", ["search_files", "search_web"]),
        ("SearchWeb", ["search_web", "search_files"]),
        ("sums", ["sum"]),
        ("delete", []),
        ("mus", []),  # the same letters, from another one on
    ],
)
def test_names_that_look_alike_are_found(name: str, expected: list[str]) -> None:
    """Best first, and those that begin with the same word after them."""
    assert find_nearest(name, ["search_files", "search_web", "sum"]) == expected


def test_no_more_than_three_names_are_offered() -> None:
    """A hint, not the list."""
    assert len(find_nearest("search_", [f"search_{letter}" for letter in "abcdef"])) == 3


def test_long_names_take_no_longer() -> None:
    """They come from outside."""
    began = time.process_time()

    assert find_resembling("x" * 1_000_000, ["y" * 1_000_000] * 100) is None
    assert time.process_time() - began < 5

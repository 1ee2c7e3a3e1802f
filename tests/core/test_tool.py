"""A tool made ready to run sorts its values."""

from sidecall import tool


def test_values_are_sorted_into_positional_and_keyword_arguments() -> None:
    """Only a function that needs positions gets them; a default fills a gap among them."""

    def mixed(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> None:
        """Mix."""

    def named(a: int) -> None:
        """Name."""

    assert tool(mixed).compiled.bind({"a": 1, "d": 5}) == ([1, 2, 3], {"d": 5})
    assert tool(named).compiled.bind({"a": 1}) == ((), {"a": 1})

"""A tool made ready to run sorts its values."""

from typing import Any

import pytest

from sidecall import tool
from sidecall.kernel.core.errors import ToolOutputError


def test_values_are_sorted_into_positional_and_keyword_arguments() -> None:
    """Only a function that needs positions gets them; a default fills a gap among them."""

    def mixed(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> None:
        """Mix."""

    def named(a: int) -> None:
        """Name."""

    assert tool(mixed).compiled.bind({"a": 1, "d": 5}) == ([1, 2, 3], {"d": 5})
    assert tool(named).compiled.bind({"a": 1}) == ((), {"a": 1})


@pytest.mark.parametrize("output", [["a", 1], ("a",), {"a", 1}], ids=["list", "single", "set"])
def test_what_promises_a_pair_returns_one(output: Any) -> None:
    """Content and artifact; a tool that promises content alone may return a pair as its content."""

    def take() -> Any:
        """Take."""

    pairing = tool(response_format="content_and_artifact")(take).compiled

    assert pairing.split(("a", 1)) == ("a", 1)
    assert tool(take).compiled.split(("a", 1)) == (("a", 1), None)
    with pytest.raises(ToolOutputError) as caught:
        pairing.split(output)
    assert caught.value.message == (
        "Error: take has response_format='content_and_artifact' and must return a pair (content, artifact), but"
        f" returned {type(output).__name__}."
    )

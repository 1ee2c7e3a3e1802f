"""Whole floats are integers where a JSON Schema wants them, as JSON has it."""

from typing import Any

from sidecall import tool
from sidecall.kernel.schema.whole_numbers import find_whole_floats, to_integer
from tests.kit.calls import run

WHOLE, ANY_NUMBER = {"type": "integer"}, {"type": "number"}


async def test_a_default_is_an_integer_too() -> None:
    """Which libraries for other languages write with a dot."""

    @tool(args_schema={"properties": {"p": {"type": "integer", "default": 3.0}}})
    def take(p: Any) -> str:
        """Take."""
        return repr(p)

    assert (await run(take, {})).content == "3"


def test_whole_floats_are_found_and_turned() -> None:
    """Wherever they are, but those that are no numbers."""
    found = find_whole_floats({"a": [1.5, {"b": 2.0}], "c": 3.0, "d": float("inf"), "e": 4, "f": "5.0"})

    assert list(found) == [("a", 1, "b"), ("c",)]
    assert (to_integer(2.0**53), to_integer(-1e22), to_integer(1.5e300)) == (2**53, -(10**22), 15 * 10**299)

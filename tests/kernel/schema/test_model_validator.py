"""A model says what is wrong with arguments, and which names in them it has no field for."""

from pydantic import BaseModel

from sidecall import tool
from tests.kit.calls import run


class Item(BaseModel):
    """Something."""

    value: int


async def test_only_what_is_dropped_is_reported_where_other_names_are_taken() -> None:
    """What holds it is a free argument, which reaches the tool."""

    @tool
    async def count(**free: list[Item]) -> int:
        """Count."""
        return sum(item.value for items in free.values() for item in items)

    message = await run(count, {"a": [{"value": 2, "unlike": None}], "b": [{"value": 3}]})

    assert (message.content, message.response_metadata["ignored_args"]) == ("5", ["a[0].unlike"])

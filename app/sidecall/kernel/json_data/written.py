"""A large JSON value kept as its bytes."""

from collections.abc import Iterable
from typing import Any

from pydantic_core import SchemaSerializer, from_json
from pydantic_core.core_schema import any_schema, plain_serializer_function_ser_schema


class WrittenJson:
    """A JSON value that was written once; it is parsed where it is read, and copied where it is sent.

    `pieces` are the bytes of the whole in order. To pydantic it is its value.
    """

    __slots__ = ("pieces", "size")
    # What pydantic asks objects for.
    __pydantic_serializer__ = SchemaSerializer(
        any_schema(serialization=plain_serializer_function_ser_schema(lambda written: written.value))
    )

    def __init__(self, pieces: Iterable[bytes]) -> None:
        """Keep these pieces."""
        self.pieces = tuple(pieces)
        self.size = sum(map(len, self.pieces))

    @property
    def value(self) -> Any:
        """The value, parsed on each access."""
        return from_json(b"".join(self.pieces))

    def __eq__(self, other: object) -> bool:
        """Compare the values."""
        return bool(self.value == (other.value if isinstance(other, WrittenJson) else other))

    __hash__ = None  # type: ignore[assignment]  # as of lists and dicts

    def __repr__(self) -> str:
        """Say how long it is."""
        return f"{type(self).__name__}({self.size} bytes)"


def is_written(value: Any) -> bool:
    """Return whether a value is kept as its bytes."""
    return type(value) is WrittenJson

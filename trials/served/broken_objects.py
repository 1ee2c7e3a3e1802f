"""Objects that break the code that touches them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, model_serializer

# Must never be in an answer.
SECRET = "hunter2-postgres-password"


class Unserializable:
    """Crash what prints it, and tell a secret on the way."""

    def __str__(self) -> str:
        raise RuntimeError(SECRET)

    __repr__ = __str__


class Crashing(RuntimeError):
    """An exception that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError(SECRET)

    __repr__ = __str__


class Twisted(dict[str, Any]):
    """An object whose content cannot be read."""

    def items(self) -> Any:
        """Crash."""
        raise RuntimeError(SECRET)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError(SECRET)


class Text(str):
    """A text that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError(SECRET)

    def encode(self, *_: Any, **__: Any) -> bytes:
        """Crash."""
        raise RuntimeError(SECRET)


class Model(BaseModel):
    """A model that cannot be dumped."""

    number: int = 1

    @model_serializer
    def _crash(self) -> dict[str, Any]:
        raise RuntimeError(SECRET)


@dataclass
class Member:
    """A member of a cycle."""

    friend: Any = None

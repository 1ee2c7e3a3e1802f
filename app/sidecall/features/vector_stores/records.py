"""Stored files and vector stores."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from sidecall.features.vector_stores.chunking import Cut
from sidecall.features.vector_stores.filters import Attribute

T = TypeVar("T")
MemberStatus = Literal["in_progress", "completed", "failed"]
ListOrder = Literal["asc", "desc"]
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class VectorStoreBounds:
    """The bounds of one tenant: files, their bytes with those of their pieces, and stores."""

    files: int = 20_000
    bytes: int = 256 * MEBIBYTE
    stores: int = 1000


@dataclass(frozen=True, slots=True)
class KeptFile:
    """An uploaded file."""

    id: str
    name: str
    purpose: str
    size: int
    created_at: float


@dataclass(frozen=True, slots=True)
class KeptStore:
    """A store, with the number of its files by state."""

    id: str
    name: str
    metadata: Mapping[str, str]
    created_at: float
    completed: int = 0
    failed: int = 0
    in_progress: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a store; after a failure `error` has a code and a text."""

    file: str
    store: str
    created_at: float
    status: MemberStatus
    error: tuple[str, str] | None
    attributes: Mapping[str, Attribute]
    cut: Cut
    size: int

    @classmethod
    def read(cls, file: str, store: str, created_at: float, status: Any, error: str, *rest: Any) -> "Member":
        """Read one as a database has it."""
        attributes, piece, overlap, size = rest
        code, _, message = error.partition("\n")
        said = (code, message) if error else None
        return cls(file, store, created_at, status, said, json.loads(attributes), Cut(piece, overlap), size)

    @property
    def id(self) -> str:
        """Its id among all files of all stores."""
        return f"{self.store}/{self.file}"

    def is_wanted_as(self, other: "Member") -> bool:
        """Return whether it has the same attributes and pieces as wanted."""
        return self.cut == other.cut and _write_values(self.attributes) == _write_values(other.attributes)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list, and whether there are more."""

    items: Sequence[T]
    has_more: bool


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page of a list: its size, the id before it, and the order."""

    limit: int = 20
    order: ListOrder = "desc"
    after: str | None = None

    def write(self, column: str, taken: int) -> tuple[str, list[str]]:
        """Return the end of a statement, after its conditions, and the values of its placeholders."""
        sign = "<" if self.order == "desc" else ">"
        condition = "" if self.after is None else f"AND {column} {sign} ${taken + 1}"
        values = [] if self.after is None else [self.after]
        return f"{condition} ORDER BY {column} {self.order.upper()}", values


def _write_values(attributes: Mapping[str, Attribute]) -> str:
    return json.dumps(dict(attributes), sort_keys=True)

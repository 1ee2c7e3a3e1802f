"""Handle large JSON values in pieces, since code in C blocks all other threads until it is done."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, AnyStr, Generic

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


# How much may be written as JSON while others wait: some 2 ms.
_MOST_VALUES = 10_000
_CHARACTERS = 256
# Types whose attributes are known.
_TYPES = 256
_SCALARS = frozenset((int, float, bool, type(None)))
_CONTAINERS = (list, tuple, dict)
_LONG = frozenset((str, WrittenJson))
_NESTED = frozenset((*_CONTAINERS, WrittenJson))
#: Members of one list or object that make a piece, and characters of a text.
PIECE = 2_000
LONGEST = 1_000_000
#: Characters or bytes that may be written of one value.
MOST_WRITTEN = 64 * 1024 * 1024


def is_bulky(value: Any) -> bool:
    """Return whether writing a value takes too long for the event loop; runs no code of an author."""
    return _is_bulky(value, _look_into)


def is_long(value: Any, most: int = _MOST_VALUES) -> bool:
    """Return whether JSON lists and objects are bulky, or have more values than `most`; runs no code of an author."""
    return _is_bulky(value, _look_into_plain, most)


def _is_bulky(value: Any, look_into: Callable[[Any], Collection[Any]], left: int = _MOST_VALUES) -> bool:
    pending = [value]
    while pending:
        item = pending.pop()
        if type(item) is str:
            left -= len(item) // _CHARACTERS
        elif type(item) not in _SCALARS:
            if type(item) is WrittenJson:
                return True
            inside = look_into(item)
            left -= len(inside)
            if left >= 0:
                pending.extend(inside)
        if left < 0:
            return True
    return False


def _look_into_plain(value: Any) -> Collection[Any]:
    kind = type(value)
    return value if kind is list or kind is tuple else value.values() if kind is dict else ()


def _look_into(value: Any) -> Collection[Any]:
    """Return the members of a value, or as many as reading it costs; no code of an author is run."""
    # By its type, since messages say that their class is another one's.
    kind: type[Any] = type(value)
    if kind is list or kind is tuple:
        plain: Collection[Any] = value
        return plain
    if issubclass(kind, dict):
        return dict.values(value)
    for sequence in (list, tuple):
        if issubclass(kind, sequence):
            members: Collection[Any] = sequence.__getitem__(value, slice(None))
            return members
    for sized, share in ((set, 1), (frozenset, 1), (bytes, _CHARACTERS), (bytearray, _CHARACTERS)):
        if issubclass(kind, sized):
            return range(sized.__len__(value) // share)
    return _list_attributes(value, kind)


def _list_attributes(value: Any, kind: type[Any]) -> list[Any]:
    found: list[Any] = []
    for descriptor in _find_descriptors(kind):  # type: ignore[arg-type]  # A type can be hashed.
        if type(descriptor) is GetSetDescriptorType:
            found += descriptor.__get__(value).values()
        else:
            with suppress(AttributeError):  # It has no value.
                found.append(descriptor.__get__(value))
    return found


@lru_cache(_TYPES)
def _find_descriptors(kind: type[Any]) -> tuple[Any, ...]:
    """Find what reads the attributes of objects of a type, apart from code of its author."""
    named = [item for owner in kind.__mro__ for item in owner.__dict__.items()]
    return tuple(
        descriptor
        for name, descriptor in named
        if type(descriptor) is MemberDescriptorType or (name == "__dict__" and type(descriptor) is GetSetDescriptorType)
    )


@dataclass(frozen=True, slots=True)
class PieceWriter(Generic[AnyStr]):
    """How parts of a value are written, and what stands between them."""

    write: Callable[[Any], AnyStr]
    comma: AnyStr
    colon: AnyStr
    # Writes a list or object that is a piece as `write` does, or returns None for it to be looked at.
    quick: Callable[[Any], AnyStr | None] = lambda _: None
    # Of parts: what writes the member of this name or index, and what those from this index on.
    below: Callable[[Any], "PieceWriter[AnyStr]"] | None = None
    after: Callable[[int], "PieceWriter[AnyStr]"] | None = None


def write_pieces(value: Any, to: PieceWriter[AnyStr]) -> AnyStr:
    """Write a value that may be large, yielding to other threads between its parts.

    On an event loop it is written at once, since nothing large is written there.
    """
    return to.comma[:0].join(bound_pieces(list_pieces(value, to))) if has_pieces(value) else to.write(value)


class TooLong(ValueError):
    """What is written has more than MOST_WRITTEN characters or bytes."""


def bound_pieces(pieces: Iterable[AnyStr]) -> Iterator[AnyStr]:
    """Yield pieces until they are too many: a few lists within each other may be written without an end.

    Raises:
        TooLong: They have more than MOST_WRITTEN characters or bytes.
    """
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MOST_WRITTEN:
            raise TooLong(f"more than {MOST_WRITTEN} bytes as JSON")
        yield piece


# Cuts and members on the way to a piece; what is nested deeper is handled whole, and refused if it never ends.
DEEPEST = 60


def list_pieces(value: Any, to: PieceWriter[AnyStr], left: int = DEEPEST) -> Iterator[AnyStr]:
    """Yield the parts of what is written, in order."""
    if type(value) is str and len(value) > LONGEST:
        yield from _cut_text(value, to.write)
    elif is_written(value):
        yield from value.pieces
    elif type(value) not in _CONTAINERS or not value:
        yield to.write(value)
    else:
        empty = to.write({} if type(value) is dict else [])
        yield empty[:1]
        yield from _list_inside(value, to, left)
        yield empty[1:]


def _list_inside(value: Any, to: PieceWriter[AnyStr], left: int) -> Iterator[AnyStr]:
    """Yield what stands between the brackets of a list or object with members."""
    is_alone = is_wrapper(value)
    if left and not is_alone and (written := to.quick(value)) is not None:
        yield written[1:-1]
    elif left == 0 or (not is_alone and is_piece(value)):
        yield to.write(value)[1:-1]
    elif len(value) == 1:
        yield from _list_member(value, to, left - 1)
    else:
        begin = 0
        for part in cut(value):
            if begin:
                yield to.comma
            yield from _list_inside(part, to if to.after is None else to.after(begin), left - 1)
            begin += len(part)


def _list_member(value: Any, to: PieceWriter[AnyStr], left: int) -> Iterator[AnyStr]:
    """Yield the one member."""
    ((step, member),) = value.items() if type(value) is dict else enumerate(value)
    if type(value) is dict:
        yield to.write(step) + to.colon
    yield from list_pieces(member, to if to.below is None else to.below(step), left)


def _cut_text(text: str, write: Callable[[Any], AnyStr]) -> Iterator[AnyStr]:
    quotes = write("")
    yield quotes[:1]
    for begin in range(0, len(text), LONGEST):
        yield write(text[begin : begin + LONGEST])[1:-1]
    yield quotes[1:]


def has_pieces(value: Any) -> bool:
    """Return whether a value is a large list or object that should be handled in pieces, outside the event loop."""
    return type(value) in _CONTAINERS and not is_on_loop() and is_long(value) and not is_piece(value, 0)


def is_piece(value: Any, most: int = _MOST_VALUES) -> bool:
    """Return whether a value is small enough to be handled at once, or cannot be cut: object keys must be texts."""
    if type(value) not in _CONTAINERS or _has_other_names(value):
        return True
    left, pending = most - len(value), [value]
    while pending:
        inside = pending.pop()
        for item in inside.values() if type(inside) is dict else inside:
            if type(item) in _CONTAINERS:
                left -= len(item)
                if _is_nested(item):
                    pending.append(item)
            elif type(item) in _LONG:
                left -= _MOST_VALUES if is_written(item) else len(item) // _CHARACTERS
            if left < 0:
                return False
    return True


def is_wrapper(value: Any) -> bool:
    """Return whether a list or object is there for its one member, so that nothing else of it need be looked at."""
    return type(value) in _CONTAINERS and len(value) == 1 and not _has_other_names(value)


def _has_other_names(value: Any) -> bool:
    return type(value) is dict and not all(type(key) is str for key in value)


def _is_nested(value: Any) -> bool:
    """Return whether a list or object holds others; a row seldom does, which then needs no second look."""
    return not _NESTED.isdisjoint(map(type, value.values() if type(value) is dict else value))


def is_on_loop() -> bool:
    """Return whether this thread runs an event loop just now."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def cut(value: Any) -> Iterator[Any]:
    """Yield the members of a list or object in shorter ones, of which most are pieces if all members are alike."""
    first = next(iter(value.values() if type(value) is dict else value))
    alike = _MOST_VALUES // (1 + (len(first) if type(first) in _CONTAINERS else 0))
    size = max(1, min(PIECE, alike, -(-len(value) // 2)))
    if type(value) is dict:
        items = iter(value.items())
        while part := dict(islice(items, size)):
            yield part
    else:
        for begin in range(0, len(value), size):
            yield value[begin : begin + size]

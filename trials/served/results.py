"""Functions that return the worst that Python knows."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from threading import Lock
from typing import Any

from trials.served.broken_objects import SECRET, Member, Model, Text, Twisted, Unserializable


def nan() -> Any:
    """Return numbers that JSON does not have."""
    return {"a": [float("nan"), float("inf"), -float("inf")], "b": Decimal("NaN")}


def cycle() -> Any:
    """Return a list that holds itself."""
    found: list[Any] = [1]
    found.append({"again": found})
    return found


def object_cycle() -> Any:
    """Return objects that hold each other."""
    first, second = Member(), Member()
    first.friend, second.friend = second, first
    return first


def raw_bytes() -> bytes:
    """Return bytes that are no text."""
    return b"\xff\xfe\x00\x80"


def surrogates() -> Any:
    """Return a text that has no UTF-8 form, as value and as key."""
    return {"\udc80key": "\ud800value", "nul": "\x00"}


def unserializable() -> Any:
    """Return an object whose `__str__` crashes."""
    return Unserializable()


def unserializable_inside() -> Any:
    """Return that object as key and as value."""
    return {Unserializable(): [Unserializable()]}


def twisted() -> Any:
    """Return a dict whose `items` crashes."""
    return Twisted(a=1)


def twisted_text() -> str:
    """Return a text whose `__str__` and `encode` crash."""
    return Text("text")


def model() -> Any:
    """Return a model whose serializer crashes."""
    return Model()


def odd_keys() -> Any:
    """Return a dict whose keys are no texts."""
    return {1: "a", (1, 2): "b", None: "c", 1.5: "d", False: "e", b"\xff": "f", frozenset((1,)): "g"}


def huge_integer() -> int:
    """Return an integer of more digits than Python will write."""
    return 10**5000


def machinery() -> Any:
    """Return what belongs to a process only."""
    return [Lock(), open, asyncio, asyncio.sleep, ..., NotImplemented]


def deep_list() -> Any:
    """Return a list that is nested 100,000 levels deep."""
    found: list[Any] = []
    for _ in range(100_000):
        found = [found]
    return found


def deep_dict() -> Any:
    """Return an object that is nested 100,000 levels deep."""
    found: dict[str, Any] = {}
    for _ in range(100_000):
        found = {"a": found}
    return found


def parts() -> Iterator[Any]:
    """Yield parts that JSON cannot say."""
    yield "text"
    yield b"\xff"
    yield float("nan")
    yield Unserializable()


def torn() -> Iterator[str]:
    """Crash between two parts."""
    yield "text"
    raise RuntimeError(SECRET)


async def torn_async() -> AsyncIterator[str]:
    """Crash between two parts, on the event loop."""
    yield "text"
    raise RuntimeError(SECRET)


def nested_generators() -> Any:
    """Return a generator inside a list, which crashes."""
    return [(Unserializable() for _ in range(3))]


def not_awaited() -> Any:
    """Return a coroutine inside a list, which nobody awaits."""
    pending = asyncio.sleep(0)
    pending.close()
    return [pending]


RESULTS: tuple[Callable[[], Any], ...] = (
    nan, cycle, object_cycle, raw_bytes, surrogates, unserializable, unserializable_inside, twisted, twisted_text,
    model, odd_keys, huge_integer, machinery, deep_list, deep_dict, parts, torn, torn_async, nested_generators,
    not_awaited,
)  # fmt: skip

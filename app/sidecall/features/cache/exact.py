"""Write values so that two of them are written the same only if they are the same."""

import types
from collections.abc import Callable, Iterable
from typing import Any


def write_exactly(value: Any) -> bytes:
    """Write a value with the types of all its parts; mappings and sets without their order.

    What has no form of its own here is written as it would be pickled, which leaves nothing out.

    Raises:
        Exception: There is no such form of it, or its own code crashes.
    """
    writer = _WRITERS.get(type(value))
    if writer is not None:
        return writer(value)
    if isinstance(value, _NAMED):
        return _join(b"name", [f"{value.__module__}.{value.__qualname__}".encode()])
    reduced = value.__reduce_ex__(2)
    if isinstance(reduced, str):
        return _join(b"global", [f"{type(value).__module__}.{reduced}".encode()])
    # The last parts of one are iterators: the items of a list or a dict with a class of its own.
    return _join(b"object", [write_exactly(_take(part)) for part in reduced])


def _take(part: Any) -> Any:
    return list(part) if hasattr(part, "__next__") else part


def _join(kind: bytes, parts: Iterable[bytes]) -> bytes:
    """Write parts behind their lengths, so that none can be taken for the beginning of another."""
    written = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    return b"%s(%s)" % (kind, written)


def _write_pair(pair: tuple[Any, Any]) -> bytes:
    return _join(b"pair", map(write_exactly, pair))


_NAMED = (type, types.FunctionType, types.BuiltinFunctionType)
_WRITERS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"none()",
    bool: lambda value: _join(b"bool", [b"1" if value else b"0"]),
    # Hexadecimal, since integers may have any number of digits.
    int: lambda value: _join(b"int", [hex(value).encode()]),
    float: lambda value: _join(b"float", [value.hex().encode()]),
    str: lambda value: _join(b"str", [value.encode("utf-8", "surrogatepass")]),
    bytes: lambda value: _join(b"bytes", [value]),
    list: lambda value: _join(b"list", map(write_exactly, value)),
    tuple: lambda value: _join(b"tuple", map(write_exactly, value)),
    dict: lambda value: _join(b"dict", sorted(map(_write_pair, value.items()))),
    set: lambda value: _join(b"set", sorted(map(write_exactly, value))),
    frozenset: lambda value: _join(b"frozenset", sorted(map(write_exactly, value))),
}

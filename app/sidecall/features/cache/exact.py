"""Write values so that different values are written differently."""

import types
from collections.abc import Callable, Iterable
from typing import Any


def write_exactly(value: Any) -> bytes:
    """Write a value with the types of all its parts; the order of mappings and sets is ignored.

    Other types are pickled.

    Raises:
        Exception: It cannot be pickled, or its own code raises.
    """
    writer = _WRITERS.get(type(value))
    if writer is not None:
        return writer(value)
    if isinstance(value, _NAMED):
        return _join(b"name", [f"{value.__module__}.{value.__qualname__}".encode()])
    reduced = value.__reduce_ex__(2)
    if isinstance(reduced, str):
        return _join(b"global", [f"{type(value).__module__}.{reduced}".encode()])
    # The last parts of a reduction are iterators: the items of a subclass of list or dict.
    return _join(b"object", [write_exactly(_take(part)) for part in reduced])


def _take(part: Any) -> Any:
    return list(part) if hasattr(part, "__next__") else part


def _join(kind: bytes, parts: Iterable[bytes]) -> bytes:
    """Join parts with their lengths in front, so that the result is unambiguous."""
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

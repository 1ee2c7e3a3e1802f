"""`dataclass` as the standard library has it, but made four times as fast.

That one compiles up to seven methods for each class, which took a sixth of the server's start. This one compiles
`__init__`, for which calls wait; the others are the same few functions for all classes. Type checkers see that one.
"""

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

from sidecall.dataclasses.methods import (
    make_comparison,
    refuse_to_delete,
    refuse_to_set,
    represent,
    set_state,
    state_of,
)
from sidecall.dataclasses.start import write_init

_OPTIONS = frozenset(("frozen", "slots", "kw_only", "eq"))
_METHODS = frozenset(
    ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__getstate__", "__setstate__")
)


def dataclass(cls: type | None = None, /, **options: bool) -> Any:
    """Make a class a dataclass, fast if only `frozen`, `slots`, `kw_only` and `eq` are used.

    Subclasses of dataclasses, and classes with such methods of their own, are left to the standard library. `InitVar`
    is not supported.
    """
    return partial(_make, options) if cls is None else _make(options, cls)


def _make(options: Mapping[str, bool], cls: type) -> Any:
    is_plain = _OPTIONS.issuperset(options) and _METHODS.isdisjoint(vars(cls))
    if not is_plain or any(map(dataclasses.is_dataclass, cls.__bases__)):
        return dataclasses.dataclass(**options)(cls)
    doc, slots, kw_only = cls.__doc__, options.get("slots", False), options.get("kw_only", False)
    cls.__doc__ = doc or cls.__name__  # Without one the standard library would word the signature.
    made = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    made.__doc__ = doc
    _put_methods(made, slots, options.get("frozen", False), options.get("eq", True))
    return made


def _put_methods(cls: Any, slots: bool, frozen: bool, eq: bool) -> None:
    params = cls.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = True, True, eq, frozen
    cls.__init__, cls.__repr__ = write_init(cls, slots, frozen), represent
    if eq:
        cls.__eq__, hashed = make_comparison(cls)
        cls.__hash__ = hashed if frozen else None
    if frozen:
        cls.__setattr__, cls.__delattr__ = refuse_to_set, refuse_to_delete
    if frozen and slots:
        cls.__getstate__, cls.__setstate__ = state_of, set_state

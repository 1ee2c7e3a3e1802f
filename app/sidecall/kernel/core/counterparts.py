"""Let objects pass `isinstance` checks of another library's classes once that library is loaded.

LangChain and the Agents SDK check the class of what they are given. Neither is imported here.
"""

from abc import ABCMeta
from functools import lru_cache
from sys import modules
from typing import Any, ClassVar


class Counterpart:
    """An object that also passes `isinstance` for a class of another library, its counterpart.

    Python reads an object's `__class__` only if `isinstance` fails on its type, so this costs nothing elsewhere. The
    object's type and behaviour stay its own.
    """

    __slots__ = ()
    # Module and name of each class that it passes for; where some come from others, the latest first.
    _counterparts: ClassVar[tuple[tuple[str, str], ...]] = ()
    # Whether it is a mere value, which passes for the other whole, as checkpoints and traces of graphs write it.
    _is_value: ClassVar[bool] = False

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        kind: Any = type(self)
        for place in kind._counterparts:
            if place[0] in modules:
                break
        else:  # As in a server; there this has to be quick.
            return kind
        found = find_counterparts(kind)
        if not found:
            return kind
        return found[0] if kind._is_value else join_classes(kind, found)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Reduce to the real type: pickle rejects objects whose `__class__` differs from it."""
        return _make_empty, (type(self),), self.__getstate__()


def find_counterparts(kind: type[Counterpart]) -> tuple[type, ...]:
    """Return the loaded classes of other libraries for which instances of a class pass."""
    # A module that is being loaded may not have the class yet.
    found = (getattr(modules.get(module), name, None) for module, name in kind._counterparts)
    return tuple(it for it in found if it is not None)


def find_from_counterpart(it: Counterpart, name: str) -> Any:
    """Find an attribute of the counterpart class, for an object that lacks it.

    Private attributes are not found: an object without a `_run` of its own has none.

    Raises:
        AttributeError: There is nothing, or no such library is loaded.
    """
    for counterpart in find_counterparts(type(it)) if not name.startswith("_") else ():
        for kind in counterpart.__mro__:
            if name in vars(kind):
                found = vars(kind)[name]
                get = getattr(type(found), "__get__", None)
                return found if get is None else get(found, it, counterpart)
    raise AttributeError(name)


class _Quiet:
    """First base of a joint class: keeps its creation from calling an author's `__init_subclass__`."""

    __slots__ = ()

    def __init_subclass__(cls, **_: Any) -> None: ...

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return cls.__mro__[2](*args, **options)


@lru_cache(maxsize=1024)
def join_classes(kind: type, counterparts: tuple[type, ...]) -> type:
    """Make a class derived from all of these that behaves like the first; return the first if they are incompatible."""
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    # Past pydantic's way of making a class, which would gather the fields anew.
    make: Any = ABCMeta.__new__
    try:
        return make(type(kind), kind.__name__, (_Quiet, kind, *counterparts), names)  # type: ignore[no-any-return]
    except TypeError:
        return kind


def _make_empty(kind: Any) -> Any:
    return kind.__new__(kind)

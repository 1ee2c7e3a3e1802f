"""Let objects pass `isinstance` checks of another library's classes once that library is loaded.

LangChain and the Agents SDK check the class of what they are given. Neither is imported here.
"""

from abc import ABCMeta
from functools import lru_cache
from sys import modules
from typing import Any, ClassVar


class VirtualSubclass:
    """An object that also passes `isinstance` for a class of another library, its virtual base.

    Python reads an object's `__class__` only if `isinstance` fails on its type, so this costs nothing elsewhere. The
    object's type and behaviour stay its own.
    """

    __slots__ = ()
    # Module and name of each class that it passes for; where some come from others, the latest first.
    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = ()
    # Whether it is a mere value, which passes for the other whole, as checkpoints and traces of graphs write it.
    _is_value: ClassVar[bool] = False

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        kind: Any = type(self)
        for place in kind._virtual_bases:
            if place[0] in modules:
                break
        else:  # As in a server; there this has to be quick.
            return kind
        found = find_virtual_bases(kind)
        if not found:
            return kind
        return found[0] if kind._is_value else join_classes(kind, found)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Reduce to the real type: pickle rejects objects whose `__class__` differs from it."""
        return _make_empty, (type(self),), self.__getstate__()


def find_virtual_bases(kind: type[VirtualSubclass]) -> tuple[type, ...]:
    """Return the loaded classes of other libraries for which instances of a class pass."""
    # A module that is being loaded may not have the class yet.
    found = (getattr(modules.get(module), name, None) for module, name in kind._virtual_bases)
    return tuple(it for it in found if it is not None)


def find_from_virtual_base(it: VirtualSubclass, name: str) -> Any:
    """Find an attribute of the virtual base, for an object that lacks it.

    Private attributes are not found: an object without a `_run` of its own has none.

    Raises:
        AttributeError: There is nothing, or no such library is loaded.
    """
    for base in find_virtual_bases(type(it)) if not name.startswith("_") else ():
        for kind in base.__mro__:
            if name in vars(kind):
                found = vars(kind)[name]
                get = getattr(type(found), "__get__", None)
                return found if get is None else get(found, it, base)
    raise AttributeError(name)


class _Quiet:
    """First base of a joint class: keeps its creation from calling an author's `__init_subclass__`."""

    __slots__ = ()

    def __init_subclass__(cls, **_: Any) -> None: ...

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return cls.__mro__[2](*args, **options)


@lru_cache(maxsize=1024)
def join_classes(kind: type, bases: tuple[type, ...]) -> type:
    """Make a class derived from all of these that behaves like the first; return the first if they are incompatible."""
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    # Past pydantic's way of making a class, which would gather the fields anew.
    make: Any = ABCMeta.__new__
    try:
        return make(type(kind), kind.__name__, (_Quiet, kind, *bases), names)  # type: ignore[no-any-return]
    except TypeError:
        return kind


def _make_empty(kind: Any) -> Any:
    return kind.__new__(kind)

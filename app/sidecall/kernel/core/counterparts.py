"""Let objects pass for those of another library, once a program has loaded it: `isinstance` is true of its classes.

LangChain and the Agents SDK ask for the class of what they are given. Neither is imported here.
"""

from abc import ABCMeta
from functools import lru_cache
from sys import modules
from typing import Any, ClassVar


class Counterpart:
    """An object that has a counterpart in another library, and says that it is of both classes.

    Python asks an object for its `__class__` where `isinstance` is not true of its type; that is the only moment in
    which this costs anything. Its type stays its own, and with it all that it does.
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
        """Return how to make it again as one of its type: pickle takes no object whose `__class__` is another."""
        return _make_empty, (type(self),), self.__getstate__()


def find_counterparts(kind: type[Counterpart]) -> tuple[type, ...]:
    """Find the classes of other libraries for which objects of a class pass; none where none is loaded."""
    # A module that is being loaded may not have the class yet.
    found = (getattr(modules.get(module), name, None) for module, name in kind._counterparts)
    return tuple(it for it in found if it is not None)


def find_from_counterpart(it: Counterpart, name: str) -> Any:
    """Find what the class of another library has under a name, for an object that has nothing there itself.

    What is private there stays so: an object without a `_run` of its own has none.

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
    """What stands first in a joint class: the making of it is no news to an author's class, and it has no objects."""

    __slots__ = ()

    def __init_subclass__(cls, **_: Any) -> None: ...

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return cls.__mro__[2](*args, **options)


@lru_cache(maxsize=1024)
def join_classes(kind: type, counterparts: tuple[type, ...]) -> type:
    """Make a class that comes from all of these, and is the first for the rest; that alone where they do not fit."""
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    # Past pydantic's way of making a class, which would gather the fields anew.
    make: Any = ABCMeta.__new__
    try:
        return make(type(kind), kind.__name__, (_Quiet, kind, *counterparts), names)  # type: ignore[no-any-return]
    except TypeError:
        return kind


def _make_empty(kind: Any) -> Any:
    return kind.__new__(kind)

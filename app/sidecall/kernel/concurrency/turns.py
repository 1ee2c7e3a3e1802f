"""Fair queueing: callers take turns, and the calls of each caller keep their order."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from sidecall.kernel.core.context import Caller

T = TypeVar("T")

# Tenant and subject of a caller.
CallerKey = tuple[str, str]


def key_of(caller: Caller) -> CallerKey:
    """Return the key that identifies a caller."""
    return caller.tenant, caller.subject


class Turns(Generic[T]):
    """Queue of waiting callers.

    A caller with many calls delays its own, and any other caller by one call at a time. `callers` are those with at
    least one waiting call.
    """

    __slots__ = ("_count", "callers")

    def __init__(self) -> None:
        # Ordered by turn: the caller served last is at the end.
        self.callers: OrderedDict[CallerKey, OrderedDict[T, None]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return (place for calls in self.callers.values() for place in calls)

    def join(self, caller: CallerKey, place: T) -> None:
        """Queue a call behind those of its caller; a caller without waiting calls is put last."""
        calls = self.callers.get(caller)
        if calls is None:
            calls = self.callers[caller] = OrderedDict()
        calls[place] = None
        self._count += 1

    def next(self) -> T:
        """Remove and return the call whose turn it is.

        Raises:
            LookupError: No call waits.
        """
        caller = next(iter(self.callers), None)
        if caller is None:
            raise LookupError("nobody waits")
        calls = self.callers[caller]
        place, _ = calls.popitem(last=False)
        self._count -= 1
        if calls:
            self.callers.move_to_end(caller)
        else:
            del self.callers[caller]
        return place

    def next_of(self, may: Callable[[CallerKey], bool]) -> tuple[CallerKey, T] | None:
        """Remove and return the next caller that `may` have a turn, with its call; None if there is none."""
        caller = next((it for it in self.callers if may(it)), None)
        if caller is None:
            return None
        self.callers.move_to_end(caller, last=False)
        return caller, self.next()

    def postpone(self, caller: CallerKey) -> None:
        """Move a caller to the end after a turn that needed no waiting, if any of its calls waits now."""
        if caller in self.callers:
            self.callers.move_to_end(caller)

    def drop(self, caller: CallerKey, place: T) -> bool:
        """Remove a call that no longer waits; return whether it was in the queue."""
        calls = self.callers.get(caller)
        if calls is None or place not in calls:
            return False
        del calls[place]
        self._count -= 1
        if not calls:
            del self.callers[caller]
        return True

    def clear(self) -> None:
        """Remove all calls."""
        self.callers.clear()
        self._count = 0

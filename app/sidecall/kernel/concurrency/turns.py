"""Who waits for a place, and whose turn it is: callers take turns, and the calls of each follow in their order."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from sidecall.kernel.core.context import Caller

T = TypeVar("T")

# Tenant and subject of a caller.
CallerKey = tuple[str, str]


def key_of(caller: Caller) -> CallerKey:
    """Return by what a caller is told from others."""
    return caller.tenant, caller.subject


class Turns(Generic[T]):
    """Those who wait. A caller with many calls holds up its own, and each other one by a call at a time.

    `callers` are those of whom some call waits.
    """

    __slots__ = ("_count", "callers")

    def __init__(self) -> None:
        # Whoever had the last turn stands last.
        self.callers: OrderedDict[CallerKey, OrderedDict[T, None]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return (place for calls in self.callers.values() for place in calls)

    def join(self, caller: CallerKey, place: T) -> None:
        """Let a call wait behind those of its caller; a caller who had none waiting comes last."""
        calls = self.callers.get(caller)
        if calls is None:
            calls = self.callers[caller] = OrderedDict()
        calls[place] = None
        self._count += 1

    def next(self) -> T:
        """Return whose turn it is, who waits no more.

        Raises:
            LookupError: Nobody waits.
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
        """Return whose turn it is of those who may have one, and what of theirs waits no more; None for nobody."""
        caller = next((it for it in self.callers if may(it)), None)
        if caller is None:
            return None
        self.callers.move_to_end(caller, last=False)
        return caller, self.next()

    def postpone(self, caller: CallerKey) -> None:
        """Let a caller come last who has had a turn without waiting for it, if any of its calls waits now."""
        if caller in self.callers:
            self.callers.move_to_end(caller)

    def drop(self, caller: CallerKey, place: T) -> bool:
        """Forget a call that does not wait any more; return whether it was there."""
        calls = self.callers.get(caller)
        if calls is None or place not in calls:
            return False
        del calls[place]
        self._count -= 1
        if not calls:
            del self.callers[caller]
        return True

    def clear(self) -> None:
        """Forget all."""
        self.callers.clear()
        self._count = 0

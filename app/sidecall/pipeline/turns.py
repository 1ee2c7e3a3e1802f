"""Who waits for a place, and whose turn it is: callers take turns, and the calls of each follow in their order."""

from asyncio import Future
from collections import OrderedDict, deque

# Tenant and subject of a caller.
CallerKey = tuple[str, str]


class Turns:
    """Those who wait. A caller with many calls holds up its own, and each other one by a call at a time."""

    __slots__ = ("_callers",)

    def __init__(self) -> None:
        # Whoever had the last turn stands last.
        self._callers: OrderedDict[CallerKey, deque[Future[None]]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._callers)

    def join(self, caller: CallerKey, place: Future[None]) -> None:
        """Let a call wait behind those of its caller; a caller who had none waiting comes last."""
        self._callers.setdefault(caller, deque()).append(place)

    def next(self) -> Future[None]:
        """Return whose turn it is, who waits no more.

        Raises:
            LookupError: Nobody waits.
        """
        caller = next(iter(self._callers), None)
        if caller is None:
            raise LookupError("nobody waits")
        place = self._callers[caller].popleft()
        if self._callers[caller]:
            self._callers.move_to_end(caller)
        else:
            del self._callers[caller]
        return place

    def drop(self, caller: CallerKey, place: Future[None]) -> None:
        """Forget a call that does not wait any more, if it is there."""
        calls = self._callers.get(caller)
        if calls is not None and place in calls:
            calls.remove(place)
            if not calls:
                del self._callers[caller]

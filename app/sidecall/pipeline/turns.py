"""Who waits for a place, and whose turn it is: callers take turns, and the calls of each follow in their order."""

from asyncio import Future
from collections import OrderedDict, deque

# Tenant and subject of a caller.
CallerKey = tuple[str, str]


class Turns:
    """Those who wait. A caller with many calls holds up its own, and each other one by a call at a time.

    `callers` are those of whom some call waits.
    """

    __slots__ = ("callers",)

    def __init__(self) -> None:
        # Whoever had the last turn stands last.
        self.callers: OrderedDict[CallerKey, deque[Future[None]]] = OrderedDict()

    def join(self, caller: CallerKey, place: Future[None]) -> None:
        """Let a call wait behind those of its caller; a caller who had none waiting comes last."""
        self.callers.setdefault(caller, deque()).append(place)

    def next(self) -> Future[None]:
        """Return whose turn it is, who waits no more.

        Raises:
            LookupError: Nobody waits.
        """
        caller = next(iter(self.callers), None)
        if caller is None:
            raise LookupError("nobody waits")
        place = self.callers[caller].popleft()
        if self.callers[caller]:
            self.callers.move_to_end(caller)
        else:
            del self.callers[caller]
        return place

    def drop(self, caller: CallerKey, place: Future[None]) -> None:
        """Forget a call that does not wait any more, if it is there."""
        calls = self.callers.get(caller)
        if calls is not None and place in calls:
            calls.remove(place)
            if not calls:
                del self.callers[caller]

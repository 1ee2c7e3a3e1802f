"""The calls that a worker has, and has had."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from nats.aio.msg import Msg

from sidecall.features.fleet.running_call import RunningCall
from sidecall.features.fleet.tool_runner import ToolRun

# Calls that are remembered after their end.
_MOST_PAST = 10_000


@dataclass(slots=True)
class ClaimedCall:
    """A call that has a slot: claimed with a ticket, or given by its server; `number` is that of the attempt."""

    server: str
    call: str
    number: int
    ticket: Msg | None = None
    # What gives the ticket back if the claim is not answered.
    timer: asyncio.TimerHandle | None = None
    is_begun: bool = False
    stop: float = math.inf  # When it is ended here
    running: RunningCall | None = None
    run: ToolRun | None = None


@dataclass(slots=True)
class ClaimedCalls:
    """Calls by their servers and numbers, which grow."""

    held: dict[tuple[str, int], ClaimedCall] = field(default_factory=dict)
    # Whether those have begun that are held no more; and the highest number of each server that was forgotten.
    _past: OrderedDict[tuple[str, int], bool] = field(default_factory=OrderedDict)
    _forgotten: dict[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[ClaimedCall]:
        """Iterate over a copy of those that are held."""
        return iter(list(self.held.values()))

    def add(self, held: ClaimedCall) -> None:
        """Add a call that has a slot now."""
        self.held[held.server, held.number] = held

    def remove(self, held: ClaimedCall) -> None:
        """Note that a call has left its slot; one that was only claimed may still be given."""
        del self.held[held.server, held.number]
        if held.is_begun:
            self._note_past((held.server, held.number), has_begun=True)

    def refuse(self, server: str, number: int) -> bool:
        """Return whether an attempt has surely not begun here; from now on it will not."""
        key = (server, number)
        if key in self.held or self._past.get(key, number <= self._forgotten.get(server, -1)):
            return False
        self._note_past(key, has_begun=False)
        return True

    def has_ended(self, server: str, number: int) -> bool:
        """Return whether an attempt has begun here and is over, as far as that is known."""
        return self._past.get((server, number), False)

    def may_begin(self, server: str, number: int) -> bool:
        """Return whether an attempt was neither begun here before nor refused, as far as that is known."""
        return (server, number) not in self._past and number > self._forgotten.get(server, -1)

    def _note_past(self, key: tuple[str, int], *, has_begun: bool) -> None:
        self._past[key] = has_begun
        if len(self._past) > _MOST_PAST:
            (server, number), _ = self._past.popitem(last=False)
            self._forgotten[server] = max(self._forgotten.get(server, -1), number)

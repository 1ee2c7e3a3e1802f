"""Share queued calls fairly with other servers."""

import time
from collections.abc import Callable

from sidecall.features.jobs.runner import Runner
from sidecall.features.ledger.ledger import Ledger

# Seconds for which a server above its share leaves queued calls to others.
_LEFT = 0.1


class FairShare:
    """Divide queued calls so that all servers run about the same number.

    A server that has stopped claims nothing, so calls left to others are claimed after a moment anyway.
    """

    def __init__(
        self, ledger: Ledger, runner: Runner, *, is_on: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ledger = ledger
        self.is_on = is_on and ledger.is_shared
        self._runner = runner
        self._clock = clock
        self._left_at: float | None = None

    @property
    def others(self) -> int:
        """How many other live servers may take calls; none where each server keeps its own."""
        return self._ledger.heartbeat.others if self.is_on else 0

    @property
    def begins_at_once(self) -> bool:
        """Whether a new call starts here without being offered to others."""
        return not self.others or not self._runner.running

    @property
    def pause(self) -> float | None:
        """Seconds after which to ask again; None if nothing was left to others."""
        return None if self._left_at is None else _LEFT

    def find(self, queued: int, running: int) -> int:
        """Return how many calls to take now.

        Args:
            queued: How many are queued.
            running: How many run, at all servers.
        """
        servers = 1 + self.others
        share = -(-(queued + running) // servers) - self._runner.running
        now = self._clock()
        if share <= 0 and queued and (self._left_at is None or now < self._left_at + _LEFT):
            self._left_at = now if self._left_at is None else self._left_at
            return 0
        taken = min(queued, share if share > 0 else -(-queued // servers))
        self._left_at = now if taken < queued else None
        return taken

    def rest(self) -> None:
        """Note that no queued call could be claimed, so that asking again soon is useless."""
        self._left_at = None

"""The lifecycle of the process, and how long shutdown waits."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Phase = Literal["starting", "ready", "draining"]
# Of a server whose tools are offered here, too.
UpstreamState = Literal["connecting", "connected", "down"]

# What workers ask each other: to reload, in two steps that all of them take, and for their metrics.
RELOAD, PREPARE, TAKE, DISCARD = "reload", "prepare", "take", "discard"
# What one of them is told: that all have reloaded on a signal.
RELOADED = "reloaded"
METRICS = "metrics"
# By the process that has answered; None of one that did not in time.
Answers = dict[str, Any]
Handler = Callable[[Any], Awaitable[Any]]


class Counts(Protocol):
    """Where a worker keeps its counts, so that they outlive it."""

    def block(self, key: str, size: int) -> "memoryview[float]":
        """Return room for so many numbers, which are 0, under a key that has none yet."""


class Peers(Protocol):
    """All workers of a server, as one of them reaches them; and where that one counts."""

    counts: Counts
    # Whether the process is gone that has started them.
    are_left: bool

    async def open(self) -> None:
        """Begin to listen, on the running loop."""

    def close(self) -> None:
        """Ask and answer no more."""

    def handle(self, handlers: dict[str, Handler]) -> None:
        """Answer what is asked about these topics."""

    async def ask(self, topic: str, payload: Any = None) -> Any:
        """Ask all of them, oneself included, and return what they have answered."""


class Replaceable(Protocol):
    """Files that a server has read, and reads again with a reload: what was prepared is taken, or discarded."""

    def prepare(self) -> None:
        """Read them beside what serves.

        Raises:
            SidecallError: They are broken.
        """

    def take(self) -> bool:
        """Use them, and return whether they are different."""

    def discard(self) -> None:
        """Forget them."""


class Lifecycle:
    """The phase of the process: starting, ready, draining, in this order."""

    def __init__(self) -> None:
        self.phase: Phase = "starting"
        # Whether what it was given kept it from serving: a setting, a tool, a store; and not the system.
        self.is_refused = False
        # Why it has to be started again, in words for an operator; once there is a reason, the process ends.
        self.failure: str | None = None
        self._draining_since: float | None = None
        self._begun_at = time.monotonic()
        # For how long anything is waited for while it drains.
        self._longest = math.inf
        # The requests that the server has begun and not answered yet.
        self.in_flight: set[asyncio.Task[Any]] = set()
        self.connections: set[Any] = set()
        # What the server itself has refused, by status: what no application has seen.
        self.refused: Counter[int] = Counter()
        # Set in the end, when no call runs any more for which no request waits.
        self.has_finished = False
        # Seconds for which the event loop was blocked and answered nothing.
        self.stuck_seconds = 0.0
        # The workers of this server; None where it is one process.
        self.peers: Peers | None = None
        # Whether there is an operator who may have the tools loaded again.
        self.is_operated = False
        # The certificate with which the server speaks HTTPS, if it does.
        self.certificates: Replaceable | None = None
        # Loads the tools again, as soon as the application runs; safe to be called in a signal handler.
        self.reload: Callable[[], object] = lambda: None

    @property
    def is_draining(self) -> bool:
        """Whether the process is draining: it finishes running work and accepts no more."""
        return self.phase == "draining"

    @property
    def uptime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._begun_at

    async def ask_workers(self, topic: str, payload: Any = None) -> Any:
        """Ask all workers of this server, and return what they have answered; None where this process is alone."""
        try:
            return None if self.peers is None else await self.peers.ask(topic, payload)
        except ConnectionError:  # The supervisor is gone, and this worker ends.
            return None

    def note_stuck(self, seconds: float) -> None:
        """Add seconds for which the event loop was blocked."""
        self.stuck_seconds += seconds

    def begin(self) -> None:
        """Begin to accept traffic, unless draining has begun."""
        if self.phase == "starting":
            self.phase = "ready"

    def drain(self) -> None:
        """Begin draining."""
        if self._draining_since is None:
            self._draining_since = time.monotonic()
        self.phase = "draining"

    def hurry(self, seconds: float) -> None:
        """Begin draining, and wait for so many seconds at most, no matter what else is asked for."""
        self.drain()
        self._longest = seconds

    def fail(self, reason: str) -> None:
        """Have the process end, to be started again; the first reason stands."""
        self.failure = self.failure or reason

    def patience(self, seconds: float) -> float:
        """Return what remains of `seconds` since draining began; all of them before."""
        if self._draining_since is None:
            return seconds
        return max(0.0, self._draining_since + min(seconds, self._longest) - time.monotonic())


@dataclass(frozen=True, slots=True)
class Patience:
    """The seconds for which a server waits: for its load balancer, its tools, its clients and its own event loop."""

    drain_grace: float = 2.0
    drain_timeout: float = 30.0
    header_timeout: float = 10.0
    body_timeout: float = 30.0
    stuck_after: float = 2.0

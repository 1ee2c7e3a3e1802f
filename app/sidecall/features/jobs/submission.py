"""Execution options of a durable call, and the bounds of the queue."""

from collections.abc import Callable

from msgspec import Struct

from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.stores import AcceptedCall
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.ports.call_entry import CallEntry

# Writes arguments as JSON text without hidden values; None where they are not kept.
Show = Callable[[ToolCall], str | None]


def show_nothing(_call: ToolCall) -> None:
    """Show no arguments."""


class JobLimits(Struct, frozen=True):
    """How many calls run at once, may be queued, and how often one is attempted.

    `key_ttl` is for how many seconds a key is kept after the end of its call, `wait` how long a client may wait.
    `listening` is how many requests may wait for earlier calls. `shares` is true when idle servers take calls of
    others.
    """

    running: int = 100
    queued: int = 10_000
    attempts: int = 10
    key_ttl: float = 86_400.0
    wait: float = 60.0
    listening: int = 1000
    shares: bool = True


class Submission(Struct):
    """Execution options of a call.

    `waits` is true when a client waits who is refused when there is no room; `hears_end` when the client gets nothing
    before the end, or before it has waited a while. `callback_url` is the webhook for its end.
    """

    key: CallKey | None = None
    waits: bool = False
    replay_of: str | None = None
    callback_url: str | None = None
    hears_end: bool = False

    @property
    def may_end_first(self) -> bool:
        """Whether nothing can refer to the call before it has ended."""
        return self.hears_end and self.key is None and self.replay_of is None and self.callback_url is None


# A new accepted call, or the entry of an earlier one with the same key.
Submitted = AcceptedCall | CallEntry


def entry_of(submitted: Submitted) -> CallEntry:
    """Return the entry of a submitted call."""
    return submitted if isinstance(submitted, CallEntry) else submitted.entry

"""What is said of a call beside its request, and how many calls are taken."""

from collections.abc import Callable
from dataclasses import dataclass

from sidecall.features.calls.accepted import AcceptedCall
from sidecall.features.calls.entry import CallEntry
from sidecall.features.calls.keys import CallKey
from sidecall.kernel.core.messages import ToolCall

# Writes the arguments of a call as JSON text that may be shown; None where they are nobody's business.
Show = Callable[[ToolCall], str | None]


def show_nothing(_call: ToolCall) -> None:
    """Show no arguments."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How many calls run at once and may be queued, and how often one is begun.

    `key_ttl` is for how many seconds a key is known after the end of its call, `wait` for how many a client may wait.
    `listening` is how many requests may wait for calls that were sent before. `shares` says that free servers take
    calls which others were sent.
    """

    running: int = 100
    queued: int = 10_000
    attempts: int = 10
    key_ttl: float = 86_400.0
    wait: float = 60.0
    listening: int = 1000
    shares: bool = True


@dataclass(slots=True)
class Submission:
    """How a call is to be run beside what its request says.

    `waits` says that a client waits for it who is told when there is no room; `hears_end` that its client is told
    nothing before it ends, or has waited for a while. `callback_url` is where to tell that it has ended.
    """

    key: CallKey | None = None
    waits: bool = False
    replay_of: str | None = None
    callback_url: str | None = None
    hears_end: bool = False

    @property
    def may_end_first(self) -> bool:
        """Whether nobody can know of the call before it has ended."""
        return self.hears_end and self.key is None and self.replay_of is None and self.callback_url is None


# A new call that was accepted, or what is known of the one of the same key that was accepted before.
Submitted = AcceptedCall | CallEntry


def entry_of(submitted: Submitted) -> CallEntry:
    """Return what is known of a call that was submitted."""
    return submitted if isinstance(submitted, CallEntry) else submitted.entry

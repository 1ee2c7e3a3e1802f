"""Slots for open messages, so that hosts that do not answer do not delay others."""

from collections import Counter

# A host and its port; None for one that is not allowed.
Host = tuple[str, int] | None

# Open messages in all, those to slow hosts, and those to each host of either kind.
MOST = 20
_MOST_LATE = 15
MOST_OF_HOST = 4
_MOST_OF_LATE_HOST = 1
# Seconds within which a prompt host answers.
_PROMPT = 2.0
# Hosts that are known to be prompt.
_MOST_KNOWN = 1000


class HostSlots:
    """Limit open messages by host: several for hosts that were prompt last, one for slow or unknown ones."""

    def __init__(self) -> None:
        """Start with all slots free, and no host known."""
        self._taken: Counter[Host] = Counter()
        self._prompt: dict[Host, None] = {}

    @property
    def are_taken(self) -> bool:
        """Whether no slot is free, for any host."""
        return self._taken.total() >= MOST

    def take(self, host: Host) -> bool:
        """Take a slot for a message to a host; False if none is free."""
        has_place = not self.are_taken and self._taken[host] < MOST_OF_HOST
        if has_place and self._may_be_late(host):
            late = sum(count for other, count in self._taken.items() if self._may_be_late(other))
            has_place = self._taken[host] < _MOST_OF_LATE_HOST and late < _MOST_LATE
        if has_place:
            self._taken[host] += 1
        return has_place

    def _may_be_late(self, host: Host) -> bool:
        return host is not None and host not in self._prompt  # To none nothing is sent.

    def leave(self, host: Host) -> None:
        """Give one back."""
        self._taken[host] -= 1
        if not self._taken[host]:
            del self._taken[host]

    def note(self, host: Host, seconds: float) -> None:
        """Note how long a host took to answer, or not to."""
        self._prompt.pop(host, None)
        if seconds < _PROMPT:
            if len(self._prompt) >= _MOST_KNOWN:
                del self._prompt[next(iter(self._prompt))]
            self._prompt[host] = None

"""Count the calls of conversations, for a list of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sidecall.kernel.core.context import Caller, cut_id

# Rows of a conversation with one caller: one for all of its calls, and one for those of each caller.
ROWS = 2
# More wait for the store only while it is unavailable.
_MOST_PENDING = 20_000
# Whose calls a row counts: those of a whole tenant, or of one of its callers.
EVERYONE = "all"


def name_caller(caller: Caller) -> str:
    """Return whose rows count the calls of this caller alone."""
    return f"caller:{cut_id(caller.subject)}"


class ConversationKey(NamedTuple):
    """A conversation as a whole, or what one of its callers sees of it."""

    tenant: str
    whose: str
    id: str


class ConversationCount(NamedTuple):
    """How many calls of a conversation have ended and failed, and when the first and last began or ended.

    Times are in seconds since 1970.
    """

    first: float
    last: float
    calls: int = 0
    errors: int = 0

    def add(self, other: "ConversationCount") -> "ConversationCount":
        """Return both together."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        return ConversationCount(first, last, self.calls + other.calls, self.errors + other.errors)


CountedConversation = tuple[ConversationKey, ConversationCount]


class ConversationCounts(dict[ConversationKey, ConversationCount]):
    """Counts of conversations, which are added up."""

    def note(self, caller: Caller, conversation_id: str, count: ConversationCount) -> None:
        """Add to a conversation; without room a new one is left out."""
        for whose in (EVERYONE, name_caller(caller)):
            key = ConversationKey(caller.tenant, whose, conversation_id)
            if key in self or len(self) < _MOST_PENDING:
                self.add([(key, count)])

    def add(self, counted: Iterable[CountedConversation]) -> None:
        """Add counts."""
        for key, count in counted:
            known = self.get(key)
            self[key] = count if known is None else known.add(count)

    def take(self) -> list[CountedConversation]:
        """Return all counts, and clear them."""
        taken = sorted(self.items())  # In a fixed order, so that concurrent servers do not deadlock.
        self.clear()
        return taken


@dataclass(frozen=True, slots=True)
class ConversationSearch:
    """Filters for conversations: whose, not older than `since`, and before the last one of the page before."""

    tenant: str
    whose: str
    since: float
    before: tuple[float, str]
    most: int


def find_conversations(counts: ConversationCounts, search: ConversationSearch) -> Sequence[CountedConversation]:
    """Return conversations, the latest first."""
    found = [
        (key, count)
        for key, count in counts.items()
        if (key.tenant, key.whose) == (search.tenant, search.whose)
        and count.last >= search.since
        and (count.last, key.id) < search.before
    ]
    return sorted(found, key=lambda it: (it[1].last, it[0].id), reverse=True)[: search.most]

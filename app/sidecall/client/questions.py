"""A person's decision on one question, and no other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sidecall.client.answers import CallApproval, PersonVerdict
from sidecall.client.options import AskPerson

# What a person has seen of an approval: a tool may ask something else under the same one.
SEEN = ("id", "description", "preview", "payload", "question", "sign_in")


def is_shown(approval: CallApproval, document: Mapping[str, Any]) -> bool:
    """Return whether an approval asks what a document of it has shown."""
    provider = None if approval.sign_in is None else approval.sign_in.provider
    shown = (document.get("sign_in") or {}).get("provider")
    if provider is None and not _has_number(approval, document.get("question")):
        return False
    return provider == shown and all(document.get(name) == approval.document.get(name) for name in SEEN[:-2])


def _has_number(approval: CallApproval, shown: int | None) -> bool:
    """Return whether the question has this number; older servers do not number questions."""
    number = approval.document.get("question")
    return None in (number, shown) or number == shown


@dataclass
class PersonWord:
    """The answer of a framework's user to one question, for `ask`; other questions go to `otherwise`.

    `shown` is what they were shown of the approval; None if there was none yet, only a dry run that said that the tool
    needs approval.
    """

    tool: str
    shown: Mapping[str, Any] | None
    verdict: PersonVerdict
    otherwise: AskPerson | None = None
    is_used: bool = False

    def decide(self, approval: CallApproval) -> Any:
        """Return the decision on this question, or None."""
        if not self.is_used and self._is_about(approval):
            self.is_used = True
            return self.verdict
        return None if self.otherwise is None else self.otherwise(approval)

    def _is_about(self, approval: CallApproval) -> bool:
        if self.shown is not None:
            return is_shown(approval, self.shown)
        # What a tool asks itself has words, and what it wants to do inside another name.
        is_own = approval.description is not None or approval.tool_call["name"] != self.tool
        return not is_own and approval.sign_in is None

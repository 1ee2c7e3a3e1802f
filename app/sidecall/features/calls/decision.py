"""A person's decision that is stored with its call, since the approval is forgotten earlier."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from pydantic_core import from_json, to_json


@dataclass(frozen=True, slots=True)
class CallDecision:
    """Who decided about a call, when and why.

    `asked_args` are the requested arguments and `args` those that ran, as JSON text without hidden values; both are
    None unless they were changed. `approval_id` is the approval of a repeated call, which has not waited itself.
    """

    by: str
    at: datetime | None = None
    reason: str | None = None
    asked_args: str | None = None
    args: str | None = None
    approval_id: str | None = None

    def write(self) -> str:
        """Write it as JSON text."""
        at = None if self.at is None else self.at.isoformat()
        return to_json((self.by, at, self.reason, self.asked_args, self.args, self.approval_id)).decode()

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what this or an earlier version has written."""
        by, at, *rest = from_json(text)
        return cls(by, None if at is None else datetime.fromisoformat(at), *rest)

    def describe(self) -> dict[str, Any]:
        """Return the decision for an entry, with the arguments that ran if they were changed."""
        said: dict[str, Any] = {"decided_by": self.by, "decided_at": self.at, "reason": self.reason}
        if self.args is not None:
            said["args"] = from_json(self.args)
        if self.asked_args is not None:
            said["asked_args"] = from_json(self.asked_args)
        if self.approval_id is not None:
            said["approval_id"] = self.approval_id
        return said

"""Decisions in the history: the approval, who decided, and what the model had requested."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sidecall.features.history.redactor import CallRedactor
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.secret_mask import hide_spellings

# The approval's id, if the call waited; who decided and when; the arguments that the person changed; their comment. The
# last two only where arguments and answers are kept. Most calls have none of it.
KeptDecision = tuple[()] | tuple[str | None, str | None, str | None, Any, str | None]


def keep_decision(request: CallRequest, showing: CallRedactor | None, hidden: Collection[str]) -> KeptDecision:
    """Copy a decision without hidden parameters and secrets."""
    decided = request.decided
    if decided is None:
        return (request.resumes, None, None, None, None)
    asked = reason = None
    if showing is not None:
        reason = None if decided.reason is None else showing.show_content(decided.reason)
        if isinstance(decided.asked_args, Mapping):
            asked = showing.show_args(decided.asked_args, hidden).args
    at = None if decided.at is None else decided.at.isoformat()
    return (request.resumes, decided.by, at, asked, reason)


def hide_in_decision(kept: KeptDecision, secrets: Collection[str]) -> KeptDecision:
    """Copy a decision with these secrets masked."""
    if not kept or not secrets:
        return kept
    return (*kept[:3], hide_spellings(kept[3], secrets), hide_spellings(kept[4], secrets))


def show_decision(kept: KeptDecision) -> dict[str, Any]:
    """Return what an entry says of it."""
    approval_id, by, at, asked, reason = kept or (None,) * 5
    decided_at = None if at is None else datetime.fromisoformat(at)
    return {
        "approval_id": approval_id,
        "decided_by": by,
        "decided_at": decided_at,
        "asked_args": asked,
        "reason": reason,
    }

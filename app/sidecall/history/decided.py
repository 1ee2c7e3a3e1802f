"""What is kept of a person's word about a call: of which approval, whose, and what the model had asked for."""

from collections.abc import Collection, Mapping
from typing import Any

from sidecall.core.invocation import CallRequest
from sidecall.history.showing import Showing, hide

# The id of the approval, if the call has waited; who has decided, if anybody; and the arguments that they changed, if
# they did and those are kept. Of most calls there is nothing.
KeptDecision = tuple[()] | tuple[str | None, str | None, Any]


def keep_decision(request: CallRequest, showing: Showing | None, hidden: Collection[str]) -> KeptDecision:
    """Copy what a person has said of a call, without hidden parameters and what is secret."""
    decided, rule = request.decided, request.rule
    by = decided.by if decided is not None else None if rule is None else rule.decided_by
    asked = None
    if showing is not None and decided is not None and isinstance(decided.asked_args, Mapping):
        asked = showing.show_args(decided.asked_args, hidden).args
    return (request.resumes, by, asked)


def hide_in_decision(kept: KeptDecision, secrets: Collection[str]) -> KeptDecision:
    """Copy it with a mark in the place of these secrets."""
    return (kept[0], kept[1], hide(kept[2], secrets)) if kept and secrets else kept

"""Refusals of durable calls without a waiting client."""

from sidecall.features.calls.entry import CallCompletion
from sidecall.features.jobs.completion import end_unanswered, end_with
from sidecall.features.jobs.running import RunningCall
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import BudgetSpent, Overloaded, StoreUnavailable, TooManyApprovals
from sidecall.kernel.pipeline.isolate import answer_for

# Errors that keep a running tool from asking a person.
_IN_ASKING = (TooManyApprovals, StoreUnavailable)


def is_final(request: CallRequest, error: Overloaded) -> bool:
    """Return whether a call is not retried: its deadline has passed, or a person would have to make room first."""
    is_past = request.deadline is not None and request.deadline.is_past
    return is_past or isinstance(error, (TooManyApprovals, BudgetSpent))


def end_refused(running: RunningCall, request: CallRequest, error: RequestError) -> CallCompletion:
    """Make the completion of a call that will not be retried; whether its tool did something is unknown."""
    if running.has_begun and not isinstance(error, _IN_ASKING):
        return end_unanswered(request.call, running.id)
    return end_with(answer_for(request, error).model_copy(update={"id": running.id}))

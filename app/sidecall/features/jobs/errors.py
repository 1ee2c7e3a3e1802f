"""Errors of durable calls."""

from sidecall.kernel.core.errors import ErrorKind, RequestError, ToolFailure
from sidecall.kernel.core.overload import Overloaded


class UnknownCall(RequestError):
    """There is no such call, or it is not remembered any more."""

    problem = (404, "unknown-call")


class CallEnded(RequestError):
    """The call has ended already."""

    problem = (409, "call-ended")


class HistoryOff(RequestError):
    """There is no history of calls here: SIDECALL_HISTORY is off."""

    problem = (404, "history-off")


class NotRepeatable(RequestError):
    """The call's tool does not say that it may run again."""

    problem = (409, "not-repeatable")


class CallNotKept(RequestError):
    """The call cannot be repeated: what was sent is not kept."""

    problem = (410, "call-not-kept")


class InvalidReplay(RequestError):
    """The body does not say how to repeat a call."""

    problem = (422, "invalid-replay")


class KeyReused(RequestError):
    """The key of the call stands for another call."""

    problem = (422, "key-reused")
    kind: ErrorKind = "key_reused"


class TooManyJobs(Overloaded):
    """So many calls are queued or kept that this server takes no more."""

    problem = (503, "too-many-jobs")

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, retry_after=10)


class OutcomeUnknown(ToolFailure):
    """Error: the server ended while the call ran, so its outcome is unknown; it may have had effects."""

    kind = "outcome_unknown"


class CallCancelled(ToolFailure):
    """Error: the call was cancelled; it may have had effects if it had begun."""

    kind = "cancelled"


EXPIRED_MIDWAY = "Error: nobody decided in time about what this call asked; it had begun, and may have had effects."


class CallExpired(ToolFailure):
    """Error: nobody decided about this call in time; it may have had effects if it had begun."""

    kind = "expired"

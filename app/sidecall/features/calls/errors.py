"""Errors of durable calls."""

from sidecall.kernel.core.errors import RequestError, ToolFailure
from sidecall.kernel.core.overload import Overloaded


class UnknownCall(RequestError):
    """There is no such call, or it is not remembered any more."""


class CallEnded(RequestError):
    """The call has ended already."""


class HistoryOff(RequestError):
    """There is no history of calls here: SIDECALL_HISTORY is off."""


class NotRepeatable(RequestError):
    """The call's tool does not say that it may run again."""


class CallNotKept(RequestError):
    """The call cannot be repeated: what was sent is not kept."""


class InvalidReplay(RequestError):
    """The body does not say how to repeat a call."""


class CallbackRefused(RequestError):
    """The end of the call cannot be told at this `callback_url`."""


class ContractChanged(RequestError):
    """The tool is not what the call is pinned to any more."""


class KeyReused(RequestError):
    """The key of the call stands for another call."""


class TooManyJobs(Overloaded):
    """So many calls are queued or kept that this server takes no more."""

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

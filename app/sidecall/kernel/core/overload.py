"""Errors for a calling program when there is no room for its calls."""

from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.errors import ErrorKind, RequestError, SidecallError, ToolException
from sidecall.kernel.core.quota import Quota


class Overloaded(RequestError):
    """The server runs as many calls as it may."""

    problem = (503, "overloaded")
    kind: ErrorKind = "overloaded"

    def __init__(self, message: str | None, *, retry_after: int) -> None:
        """Send a call away; `retry_after` is in seconds."""
        super().__init__(message, retryable=True, retry_after=retry_after)
        self.retry_after = retry_after
        self.headers = {"Retry-After": str(retry_after)}


class CallRefused(Overloaded):
    """What runs the tool has no room for the call now, so it has not begun."""

    def __init__(self, message: str | None = None, *, retry_after: int = 1) -> None:
        """Send a call away that an executor does not begin; `retry_after` is in seconds."""
        super().__init__(message, retry_after=retry_after)


class NoWorker(CallRefused):
    """No worker of the tool's queue has taken the call in time."""

    problem = (503, "no-worker")


class TooManyCalls(Overloaded):
    """You run as many calls as one caller may."""

    problem = (429, "too-many-calls")


# Said of few large calls as of many small ones.
APPROVALS_FULL = (
    "The approvals that this server keeps take all the bytes that it has for them (SIDECALL_MAX_WAITING_BYTES), "
    "so it takes no more."
)


class TooManyApprovals(Overloaded):
    """So many calls wait for a person's approval that this server takes no more."""

    problem = (503, "too-many-approvals")

    def __init__(self, message: str | None = None) -> None:
        # A person needs a while.
        super().__init__(message, retry_after=60)


class QuotaExceeded(TooManyCalls):
    """You have made as many calls as one caller may in this time."""

    problem = (429, "quota-exceeded")

    def __init__(self, quota: Quota) -> None:
        what, _, tool = quota.name.partition(":")
        whose = f"{what.title()} of {tool}" if tool else what.title()
        allowed = f"{whose} that one caller may make in {quota.seconds} s: {quota.most}."
        super().__init__(f"{allowed} The next one may come in {quota.more_in} s.", retry_after=quota.more_in)
        self.members = {**self.members, "violated-policies": [quota.name]}
        self.quotas = (quota,)


class BudgetSpent(CallRefused):
    """A budget has nothing left for this call."""

    problem = (429, "budget-spent")

    def __init__(self, reason: str, again: str, *, retry_after: int, budget: Mapping[str, Any]) -> None:
        """Refuse a call that would cost too much.

        Args:
            reason: What the budget lacks.
            again: When the call is possible.
            retry_after: Seconds until then.
            budget: The budget for programs.
        """
        super().__init__(f"{reason} {again}", retry_after=retry_after)
        self.question = f"{reason} Shall this call run nevertheless?"
        self.members = {**self.members, "violated-policies": ["budget"], "budget": budget}


class StoreUnavailable(Overloaded):
    """What this server remembers cannot be reached just now, so it accepts nothing that has to be remembered."""

    problem = (503, "store-unavailable")

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, retry_after=5)


class PartUnavailable(Overloaded):
    """A part of this server cannot be used just now."""

    problem = (503, "part-unavailable")

    def __init__(self, message: str | None = None, *, retry_after: int = 5) -> None:
        super().__init__(message, retry_after=retry_after)


class StoreUnfit(SidecallError):
    """What the setting SIDECALL_STORE names cannot be used by this program."""


# By which a client is told to come back later.
_TRY_AGAIN = (408, 429, 502, 503, 504)


class HTTPRefusal(ToolException):
    """Stand-in for a web framework's HTTPException, whose detail is meant for the client."""

    def __init__(self, detail: Any, status: int, retry_after: float | None = None) -> None:
        super().__init__(detail, retryable=status in _TRY_AGAIN, retry_after=retry_after)
        self.details = {"http_status": status}


def read_refusal(error: BaseException) -> CallRefused | None:
    """Return the refusal of an executor; None for anything else.

    A tool may raise refusals of other parts of a server in the middle of its work; these do not count.
    """
    if isinstance(error, CallRefused):
        return error
    return CallRefused(error.message, retry_after=error.retry_after) if type(error) is Overloaded else None


def read_store_unavailable(error: BaseException) -> ToolException | None:
    """Return the text for the model if the tool's store is unavailable; None for anything else."""
    if not isinstance(error, StoreUnavailable):
        return None
    return ToolException("What tools remember cannot be reached just now.", retry_after=error.retry_after)


def read_http_exception(error: BaseException) -> HTTPRefusal | None:
    """Return the refusal in an HTTPException of FastAPI or Starlette; None for anything else."""
    if not any(
        it.__name__ == "HTTPException" and it.__module__ == "starlette.exceptions" for it in type(error).__mro__
    ):
        return None
    said = vars(error)
    status, detail = said.get("status_code"), said.get("detail")
    if not isinstance(status, int):
        return None
    return HTTPRefusal(detail or f"HTTP {status}", status, _read_seconds(said.get("headers")))


def _read_seconds(headers: Any) -> float | None:
    """Read `Retry-After` as seconds; dates are ignored."""
    known = headers if isinstance(headers, Mapping) else {}
    value = next((str(value) for name, value in known.items() if str(name).lower() == "retry-after"), "")
    return float(value) if value.isascii() and value.isdigit() else None

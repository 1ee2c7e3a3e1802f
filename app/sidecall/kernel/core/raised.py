"""Interpret exceptions that a tool raised."""

from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.overload import CallRefused, Overloaded, StoreUnavailable

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

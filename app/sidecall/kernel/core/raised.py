"""Read what a tool raised."""

from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.overload import CallRefused, Overloaded, StoreUnavailable

# By which a client is told to come back later.
_TRY_AGAIN = (408, 429, 502, 503, 504)


class HTTPRefusal(ToolException):
    """Stand for the HTTPException of a web framework, whose detail is meant for whoever asked."""

    def __init__(self, detail: Any, status: int, retry_after: float | None = None) -> None:
        super().__init__(detail, retryable=status in _TRY_AGAIN, retry_after=retry_after)
        self.details = {"http_status": status}


def read_refusal(error: BaseException) -> CallRefused | None:
    """Return why an executor does not begin a call; None for anything else.

    What other parts of a server refuse, a tool may have asked them for in the middle of its work.
    """
    if isinstance(error, CallRefused):
        return error
    return CallRefused(error.message, retry_after=error.retry_after) if type(error) is Overloaded else None


def read_store_unavailable(error: BaseException) -> ToolException | None:
    """Return what the model reads where the store of a tool is away; None for anything else."""
    if not isinstance(error, StoreUnavailable):
        return None
    return ToolException("What tools remember cannot be reached just now.", retry_after=error.retry_after)


def read_http_exception(error: BaseException) -> HTTPRefusal | None:
    """Return what an HTTPException of FastAPI or Starlette says; None for anything else."""
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
    """Read `Retry-After`; a date in it is nothing that a model could wait for."""
    known = headers if isinstance(headers, Mapping) else {}
    value = next((str(value) for name, value in known.items() if str(name).lower() == "retry-after"), "")
    return float(value) if value.isascii() and value.isdigit() else None

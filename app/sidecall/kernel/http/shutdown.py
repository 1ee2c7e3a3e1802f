"""The problem that answers a request which the end of the server does not let finish."""

from typing import Any

from fastapi import Request, Response

from sidecall.kernel.http.problems import problem

STATUS = 503
SLUG = "shutting-down"
TITLE = "The server is ending."
DETAIL = (
    "The request was not finished, though its tool may have had an effect. Send it again: another instance, or the "
    "next one, will answer."
)


def shutdown_problem(request: Request, **members: Any) -> Response:
    """Make the answer that asks the client program to send its request again."""
    return problem(request, STATUS, SLUG, TITLE, DETAIL, retryable=True, **members)

"""What is said of a request that the end of the server does not let finish."""

from typing import Any

from fastapi import Request, Response

from sidecall.http.problems import problem

STATUS = 503
SLUG = "shutting-down"
TITLE = "The server is ending."
DETAIL = (
    "The request was not finished, though its tool may have had an effect. Send it again: another instance, or the "
    "next one, will answer."
)


def ending(request: Request, **members: Any) -> Response:
    """Make the problem that tells the client program to come back."""
    return problem(request, STATUS, SLUG, TITLE, DETAIL, retryable=True, **members)

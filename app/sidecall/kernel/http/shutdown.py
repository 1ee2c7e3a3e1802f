"""The problem for requests that are interrupted by the shutdown."""

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
    """Build the answer that asks the client program to retry."""
    return problem(request, STATUS, SLUG, TITLE, DETAIL, retryable=True, **members)

"""CORS: let web pages of other origins read answers."""

from collections.abc import Collection

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from sidecall.kernel.http.application import Wrapper
from sidecall.kernel.http.request_id import RequestIdHeader

_READABLE = (
    "ETag",
    "Idempotency-Replayed",
    "Link",
    "Location",
    "Mcp-Session-Id",
    "Preference-Applied",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "X-Request-Id",
    "X-Sidecall-Approvals",
)


def share_with(origins: Collection[str]) -> Wrapper:
    """Make the middleware for pages of these origins: it answers preflight requests, and marks every answer.

    Pages that may run tools may also send the credentials by which their browser is known to a gateway.
    """

    def share(app: ASGIApp) -> ASGIApp:
        return RequestIdHeader(
            CORSMiddleware(
                app,
                allow_origins=origins,
                allow_methods=("*",),
                allow_headers=("*",),
                allow_credentials=True,
                allow_private_network=True,
                expose_headers=_READABLE,
            )
        )

    return share

"""Settle who calls, once for each request, in front of every door."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from sidecall.core.context import ANONYMOUS, Caller
from sidecall.core.errors import RequestError

# Where the caller stands in the scope. No part of `state`, where others keep what is theirs.
_CALLER = "sidecall.caller"


class Authenticator(Protocol):
    """Whoever knows callers by the headers of their requests."""

    async def authenticate(self, headers: Headers) -> Caller:
        """Return who sends a request with these headers.

        Raises:
            RequestError: The headers do not say it, or not for certain.
        """


# Answers a request with an error.
Refuse = Callable[[Scope, Receive, Send, RequestError], Awaitable[None]]


class Authentication:
    """Write the caller of each request into its scope, and refuse a request whose caller is not known."""

    def __init__(
        self, app: ASGIApp, authenticator: Authenticator, refuse: Refuse, is_open: Callable[[str], bool]
    ) -> None:
        """Stand in front of an application.

        Args:
            app: What is served to those who are known.
            authenticator: Knows the callers.
            refuse: Answers the others.
            is_open: Returns whether a path is served to everybody, without a look at who they are.
        """
        self._app = app
        self._authenticator = authenticator
        self._refuse = refuse
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and not self._is_open(path_of(scope)):
            try:
                scope[_CALLER] = await self._authenticator.authenticate(Headers(scope=scope))
            except RequestError as error:
                await self._refuse(scope, receive, send, error)
                return
        await self._app(scope, receive, send)


def path_of(scope: Scope) -> str:
    """Return the path below the place where the application is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if path.startswith(root) else path


def caller_of(scope: Scope) -> Caller:
    """Return who sends a request; anonymous where nobody tells callers apart."""
    caller: Caller = scope.get(_CALLER, ANONYMOUS)
    return caller

"""Authenticate each request once, in front of all routes."""

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from sidecall.features.access.access import Access
from sidecall.features.access.credential_cache import HEADERS, CredentialCache
from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.errors import RequestError

# The key in the scope for the challenge that says how to get a token.
METADATA = "sidecall.resource_metadata"
# The key in the scope for the caller. It is not part of `state`, which belongs to others.
CALLER = "sidecall.caller"


# Answers a request with an error.
Refuse = Callable[[Scope, Receive, Send, RequestError], Awaitable[None]]
# Raises an error where a caller may not send a request of this method and path.
Permit = Callable[[str, str, Caller], None]


def permit_all(_method: str, _path: str, _caller: Caller) -> None:
    """Let every caller send every request."""


class Authentication:
    """Put the caller of each request into its scope; refuse a request without a known, permitted caller."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        refuse: Refuse,
        is_open: Callable[[str], bool],
        permit: Permit = permit_all,
    ) -> None:
        """Wrap an application.

        Args:
            app: The application for authenticated callers.
            access: Recognizes the callers.
            refuse: Answers all other requests.
            is_open: Returns whether a path needs no authentication.
            permit: Checks what a caller may do.
        """
        self._app = app
        self._authenticator = access.authenticator
        self._refuse = refuse
        self._is_open = is_open
        self._permit = permit
        self._hidden = frozenset(access.hidden)
        self._resource = access.resource
        self._passes = CredentialCache() if access.is_by_credential else None
        if self._passes is not None and access.follow is not None:
            access.follow(self._passes.clear)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope["type"] != "http":
            return self._app(scope, receive, send)
        if self._resource is not None:
            scope[METADATA] = self._resource
        path = path_of(scope)
        found = None if self._passes is None else self._passes.find(scope)
        if found is not None and (scope["method"], path) in found.ways:
            scope[CALLER] = found.caller
            self._hide(scope)
            return self._app(scope, receive, send)
        return self._settle(path, scope, receive, send)

    def _settle(self, path: str, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if self._is_open(path):
            return self._app(scope, receive, send)
        try:
            found = self._authenticator.authenticate(scope)
            if not isinstance(found, Caller):
                return self._wait(found, path, scope, receive, send)
            self._accept(found, path, scope)
        except RequestError as error:
            return self._refuse(scope, receive, send, error)
        return self._app(scope, receive, send)

    async def _wait(self, found: Awaitable[Caller], path: str, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._accept(await found, path, scope)
        except RequestError as error:
            await self._refuse(scope, receive, send, error)
            return
        await self._app(scope, receive, send)

    def _accept(self, caller: Caller, path: str, scope: Scope) -> None:
        scope[CALLER] = caller  # The audit reads it too when the request is refused.
        self._permit(scope["method"], path, caller)
        if self._passes is not None:
            self._passes.keep(scope, caller, (scope["method"], path))
        self._hide(scope)

    def _hide(self, scope: Scope) -> None:
        if not self._hidden:
            return
        scope["headers"] = [header for header in scope["headers"] if header[0] not in self._hidden]
        # Also from those by name: where both differ in number, a header is repeated, and the request takes the slow
        # path.
        named = scope.get(HEADERS)
        if named is not None:
            for header in self._hidden:
                named.pop(header, None)


def path_of(scope: Scope) -> str:
    """Return the path below the place where the application is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if path.startswith(root) else path


def caller_of(scope: Scope) -> Caller:
    """Return the caller of a request; anonymous where authentication is off."""
    caller: Caller = scope.get(CALLER, ANONYMOUS)
    return caller

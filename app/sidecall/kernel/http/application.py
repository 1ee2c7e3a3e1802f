"""A FastAPI application with its own plain ASGI wrappers around the framework."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidecall.features.access.middleware import path_of
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.http.system_refusals import format_system_refusal

# Where it stands in the scope that the path came with a slash behind it, by which clients read relative addresses.
SLASH = "sidecall.slash"
# Puts something around an application.
Wrapper = Callable[[ASGIApp], ASGIApp]


class Application(FastAPI):
    """The framework, its wrappers, and the fast path in front of it.

    What an embedding program adds with `add_middleware` must see every request: it goes outermost, and the fast path is
    then disabled. Our own wrappers are passed to the constructor and run inside of it.
    """

    def __init__(self, *, wrappers: Sequence[Wrapper], door: Wrapper, inner: Sequence[Wrapper], **options: Any) -> None:
        """Make an application.

        Args:
            wrappers: What every request passes through, from the outside in.
            door: What may serve a request before the framework does.
            inner: What the rest passes through behind the door, from the outside in.
            options: FastAPI's.
        """
        super().__init__(redirect_slashes=False, **options)
        self._wrappers = tuple(wrappers)
        self._door = door
        self._inner = tuple(inner)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one lifespan.

        FastAPI's own entry to the same stack, which is only there for request spans, is skipped.
        """
        if scope["type"] == "http" and scope["path"].endswith("/"):
            _drop_slash(scope)
        if scope["type"] != "http" or self.root_path or self.middleware_stack is None:
            await super().__call__(scope, receive, _report_failures(send) if scope["type"] == "lifespan" else send)
            return
        scope["app"] = self
        await self.middleware_stack(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Build the stack around the framework; called once, by the framework, at the first request."""
        foreign = self.user_middleware
        if not foreign:
            return _wrap(super().build_middleware_stack(), (*self._wrappers, self._door, *self._inner))
        self.user_middleware = [*foreign, Middleware(_wrap, (*self._wrappers, *self._inner))]
        try:
            return super().build_middleware_stack()
        finally:
            self.user_middleware = foreign


def _drop_slash(scope: Scope) -> None:
    """Treat a path with a trailing slash as the one without it, also below a mount point.

    The framework would redirect instead, to an address that clients may not be able to reach. Rules by path, such as
    who may call it, are looked up after this.
    """
    path = path_of(scope).rstrip("/")
    raw_path: bytes = scope.get("raw_path") or b"/"
    if path and raw_path.endswith(b"/"):  # Else it is a part of a name, as `%2F`.
        scope["path"] = scope["path"].rstrip("/")
        scope["raw_path"] = raw_path.rstrip(b"/")
        scope[SLASH] = True


def _report_failures(send: Send) -> Send:
    """Print a short message when the application cannot start for a known reason; other errors get a traceback."""

    async def say(message: Message) -> None:
        error = sys.exception()  # That which the framework is about to tell of.
        words = None
        if message["type"] == "lifespan.startup.failed" and isinstance(error, SidecallError | OSError | RuntimeError):
            words = str(error) if isinstance(error, SidecallError) else format_system_refusal(error)
        await send(message if words is None else {**message, "message": f"the server cannot start: {words}"})

    return say


def _wrap(app: ASGIApp, wrappers: Sequence[Wrapper]) -> ASGIApp:
    for wrapper in reversed(wrappers):
        wrapped: Any = wrapper(app)
        app = wrapped.__call__  # Which every call of the object would look for again.
    return app

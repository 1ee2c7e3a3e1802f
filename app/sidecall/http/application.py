"""A FastAPI application with its own plain ASGI wrappers around the framework."""

import errno
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidecall.http.authentication import path_of
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.overload import PartUnavailable

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
        await self.serve(scope, receive, send)

    def serve(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Do so without a coroutine of its own, which would cost time on every call."""
        kind, stack = scope["type"], self.middleware_stack
        if kind == "http" and scope["path"].endswith("/"):
            _drop_slash(scope)
        if kind != "http" or self.root_path or stack is None:
            return super().__call__(scope, receive, _report_failures(send) if kind == "lifespan" else send)
        scope["app"] = self
        return stack(scope, receive, send)

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


logger = logging.getLogger("sidecall")

_SHORTAGES = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM))

_SHORT = "The system gives this server no more open files, or no more memory, at the moment; its log has the details."
# Seconds in which a shortage is told once, however many requests it meets.
_QUIET = 60.0


def format_system_refusal(error: BaseException) -> str | None:
    """Return the description of an operating system error behind an exception; None for other errors."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            return _word(cause)
        # Python's own words, as there is no number in it.
        if isinstance(cause, RuntimeError) and "can't start new thread" in str(cause):
            return "no more threads can be started; raise the limit (ulimit -u, TasksMax, --pids-limit)"
        cause = cause.__cause__ or cause.__context__
    return None


def _word(error: OSError) -> str:
    said = error.strerror or str(error) or type(error).__name__
    place = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
    return f"{said}{place}{_REMEDIES.get(error.errno or 0, '')}"


_REMEDIES = {
    errno.EMFILE: "; raise the limit (ulimit -n, LimitNOFILE, --ulimit nofile)",
    errno.EAGAIN: "; raise the limit of processes (ulimit -u, TasksMax, --pids-limit)",
    errno.ENOMEM: "; give it more memory",
}


class _ShortageLog:
    """Logs a shortage at most once a minute, with advice."""

    def __init__(self) -> None:
        self._next = 0.0

    def tell(self, error: OSError) -> None:
        """Log it, unless one was logged just before."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _QUIET
            logger.error("requests are refused with 503 for a moment: %s", _word(error))


_teller = _ShortageLog()


def find_shortage(error: BaseException) -> PartUnavailable | None:
    """Return the error for clients if the system is short of files or memory, and log it; None for other errors."""
    shortage = _read_shortage(error)
    if shortage is None:
        return None
    _teller.tell(shortage)
    return PartUnavailable(_SHORT)


def _read_shortage(error: BaseException) -> OSError | None:
    if isinstance(error, OSError):
        return error if error.errno in _SHORTAGES else None
    # A library in C that cannot be opened is told of in words alone.
    said = str(error) if isinstance(error, ImportError) else ""
    found = next((number for number in _SHORTAGES if os.strerror(number) in said), None)
    return None if found is None else OSError(found, os.strerror(found))

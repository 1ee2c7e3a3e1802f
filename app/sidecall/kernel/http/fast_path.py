"""Serve hot requests in front of the framework.

Most of the cost of a short request is the framework's routing. The fast path takes only plain requests; all others go
on to the framework's routes. Its creator says which requests these are and how they are answered; both ways call the
same functions, and the same tests run against both.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import MappingProxyType

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidecall.kernel.http import problems
from sidecall.kernel.http.direct_response import DirectResponse
from sidecall.kernel.http.reply import Reply
from sidecall.kernel.http.request_id import NOSNIFF, header_of
from sidecall.kernel.http.watch import RequestWatch

# Answers a request of one path, at once or later, or returns None for what has to go on to the framework.
Shortcut = Callable[[Scope, Receive], Reply | Awaitable[Reply] | None]
NO_WAYS: Mapping[str, ASGIApp] = MappingProxyType({})


class FastPath:
    """Answers requests that have a shortcut, and passes the rest on.

    When the application is mounted in another one, the framework serves everything, since it knows the mount path.
    """

    def __init__(
        self,
        app: ASGIApp,
        watch: RequestWatch,
        shortcuts: Mapping[str, Shortcut],
        ways: Mapping[str, ASGIApp] = NO_WAYS,
    ) -> None:
        """Wrap an application.

        Args:
            app: The framework.
            watch: Is told of what is answered here.
            shortcuts: What is answered here, by its path.
            ways: What serves all requests of a path by itself.
        """
        self._app = app
        self._watch = watch
        self._shortcuts = shortcuts
        self._ways = ways

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request or one lifespan."""
        if scope["type"] == "http" and not scope.get("root_path"):
            shortcut = self._shortcuts.get(scope["path"])
            if shortcut is not None:
                try:
                    answer = shortcut(scope, receive)
                except Exception as error:
                    return _refuse(error, scope, receive, self._watch.follow(scope, send))
                if isinstance(answer, Reply):
                    self._watch.note(scope, answer.status)
                    return _NOTHING if _is_sent(answer, scope, send) else _send(answer, scope, send)
                if answer is not None:
                    return self._serve(answer, scope, receive, send)
            if (way := self._ways.get(scope["path"])) is not None:
                return way(scope, receive, self._watch.follow(scope, send))
        return self._app(scope, receive, send)

    async def _serve(self, answer: Awaitable[Reply], scope: Scope, receive: Receive, send: Send) -> None:
        try:
            reply = await answer
        except ClientDisconnect:
            return
        except Exception as error:
            await problems.refuse(scope, receive, self._watch.follow(scope, send), error)
            if problems.find_known(error) is None:
                raise
            return
        self._watch.note(scope, reply.status)
        if not _is_sent(reply, scope, send):
            await _send(reply, scope, send)


async def _refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    await problems.refuse(scope, receive, send, error)
    if problems.find_known(error) is None:
        try:
            raise error
        finally:
            del error  # Its traceback holds this frame, and would so hold itself.


def _is_sent(reply: Reply, scope: Scope, send: Send) -> bool:
    """Send an answer directly if the server supports that."""
    exchange = getattr(send, "__self__", None)
    return isinstance(exchange, DirectResponse) and exchange.answer(reply, scope["state"]["request_id"].encode())


class _Nothing:
    """An awaitable that completes at once."""

    def __await__(self) -> Iterator[None]:
        return _NO_STEPS


_NO_STEPS: Iterator[None] = iter(())
_NOTHING: Awaitable[None] = _Nothing()  # type: ignore[assignment]  # an iterator that is at its end is enough


async def _send(reply: Reply, scope: Scope, send: Send) -> None:
    await send(_write_head(reply, scope))
    await send({"type": "http.response.body", "body": reply.body})


def _write_head(reply: Reply, scope: Scope) -> Message:
    return {
        "type": "http.response.start",
        "status": reply.status,
        "headers": [*reply.raw_headers, NOSNIFF, header_of(scope)],
    }

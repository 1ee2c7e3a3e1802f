"""Who calls is settled in the scope, for all that is behind it."""

from collections.abc import Awaitable
from typing import Any

import pytest

from sidecall.http.authentication import Access, Authentication, caller_of
from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.errors import RequestError
from tests.kit.asgi import Peer, scope_of


class Keys:
    """Know who has which key."""

    def __init__(self, *, is_slow: bool) -> None:
        self._is_slow = is_slow

    def authenticate(self, scope: Any) -> Caller | Awaitable[Caller]:
        """Return the owner of the key, at once or later."""
        return self._look_up(scope) if self._is_slow else self._find(scope)

    async def _look_up(self, scope: Any) -> Caller:
        return self._find(scope)

    def _find(self, scope: Any) -> Caller:
        owners = {b"key-1": Caller("ann", "acme", frozenset({"tools:call"}))}
        try:
            return owners[dict(scope["headers"])[b"authorization"]]
        except KeyError:
            raise RequestError("Who are you?") from None


def _permit(method: str, path: str, caller: Caller) -> None:
    if method == "DELETE":
        raise RequestError(f"{caller.subject} may not delete {path}.")


class Server:
    """Stand behind it, and note who comes."""

    def __init__(self, *, is_slow: bool = False) -> None:
        self.seen: list[Any] = []
        self.headers: list[Any] = []
        self.refused: list[str] = []
        self.app = Authentication(
            self.serve,
            Access(Keys(is_slow=is_slow), is_proved=True, hidden=(b"authorization",)),
            self.refuse,
            lambda path: path == "/healthz",
            _permit,
        )

    async def serve(self, scope: Any, _receive: Any, _send: Any) -> None:
        """Note the caller."""
        self.seen.append(caller_of(scope))
        self.headers.append(scope.get("headers"))

    async def refuse(self, _scope: Any, _receive: Any, _send: Any, error: RequestError) -> None:
        """Note what was wrong."""
        self.refused.append(error.message)

    async def get(self, path: str, *headers: tuple[str, str], method: str = "GET", **changes: Any) -> None:
        """Send a request."""
        peer = Peer()
        await self.app({**scope_of(method, path, headers), **changes}, peer.receive, peer.send)


AT_ONCE_OR_LATER = pytest.mark.parametrize("is_slow", [False, True])


@AT_ONCE_OR_LATER
async def test_the_caller_stands_in_the_scope(is_slow: bool) -> None:
    """As the authenticator knows it, with tenant and scopes."""
    server = Server(is_slow=is_slow)

    await server.get("/tools", ("authorization", "key-1"))

    assert (server.seen, server.refused) == ([Caller("ann", "acme", frozenset({"tools:call"}))], [])


@AT_ONCE_OR_LATER
async def test_what_a_caller_may_not_do_is_refused(is_slow: bool) -> None:
    """Under each of its names."""
    server = Server(is_slow=is_slow)

    await server.get("/a", ("authorization", "key-1"), method="DELETE")

    assert (server.seen, server.refused) == ([], ["ann may not delete /a."])


async def test_what_proves_who_calls_goes_no_further() -> None:
    """Tools see the other headers only."""
    server = Server()

    await server.get("/tools", ("authorization", "key-1"), ("accept", "*/*"))

    assert server.headers == [[(b"accept", b"*/*")]]


@AT_ONCE_OR_LATER
async def test_who_is_not_known_is_refused(is_slow: bool) -> None:
    """Nothing behind it hears of the request."""
    server = Server(is_slow=is_slow)

    await server.get("/tools", ("authorization", "key-2"))

    assert (server.seen, server.refused) == ([], ["Who are you?"])


@pytest.mark.parametrize(
    ("path", "root", "is_open"),
    [
        ("/healthz", "", True),
        ("/sidecall/healthz", "/sidecall", True),
        ("/healthz", "/sidecall", True),  # behind a proxy that takes the prefix away
        ("/sidecall/healthz", "", False),
        ("/healthz/", "", False),
        ("//healthz", "", False),
    ],
)
async def test_what_is_open_is_served_without_a_look(path: str, root: str, is_open: bool) -> None:
    """Below the place where the application is mounted."""
    server = Server()

    await server.get(path, root_path=root)

    assert (server.seen, server.refused) == (([ANONYMOUS], []) if is_open else ([], ["Who are you?"]))


async def test_what_others_call_caller_is_not_ours() -> None:
    """An application that embeds this one may have a `state.caller` of its own."""
    scope = {**scope_of("GET", "/tools"), "state": {"caller": "ann"}}

    assert caller_of(scope) is ANONYMOUS


async def test_what_is_no_request_passes() -> None:
    """The lifespan has no caller."""
    server = Server()
    peer = Peer()

    await server.app({"type": "lifespan"}, peer.receive, peer.send)

    assert (server.seen, server.refused) == ([ANONYMOUS], [])

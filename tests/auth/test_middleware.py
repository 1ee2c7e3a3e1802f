"""Who calls is settled in the scope, whatever is behind it."""

from typing import Any

import pytest
from starlette.datastructures import Headers

from sidecall.auth.middleware import Authentication, caller_of
from sidecall.core.context import ANONYMOUS, Caller
from sidecall.core.errors import RequestError
from tests.kit.asgi import Peer, scope_of


class Keys:
    """Know who has which key."""

    async def authenticate(self, headers: Headers) -> Caller:
        """Return the owner of the key."""
        owners = {"key-1": Caller("ann", "acme", frozenset({"tools:call"}))}
        try:
            return owners[headers["authorization"]]
        except KeyError:
            raise RequestError("Who are you?") from None


class Server:
    """Stand behind it, and note who comes."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.refused: list[str] = []
        self.app = Authentication(self.serve, Keys(), self.refuse, lambda path: path == "/healthz")

    async def serve(self, scope: Any, _receive: Any, _send: Any) -> None:
        """Note the caller."""
        self.seen.append(caller_of(scope))

    async def refuse(self, _scope: Any, _receive: Any, _send: Any, error: RequestError) -> None:
        """Note what was wrong."""
        self.refused.append(error.message)

    async def get(self, path: str, *headers: tuple[str, str], **changes: Any) -> None:
        """Send a request."""
        peer = Peer()
        await self.app({**scope_of("GET", path, headers), **changes}, peer.receive, peer.send)


async def test_the_caller_stands_in_the_scope() -> None:
    """As the authenticator knows it, with tenant and scopes."""
    server = Server()

    await server.get("/tools", ("authorization", "key-1"))

    assert (server.seen, server.refused) == ([Caller("ann", "acme", frozenset({"tools:call"}))], [])


async def test_who_is_not_known_is_refused() -> None:
    """Nothing behind it hears of the request."""
    server = Server()

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

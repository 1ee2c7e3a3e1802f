"""What was settled of a credential is remembered for a moment, and for that credential alone."""

from typing import Any

import pytest

from sidecall.http.authentication import HEADERS, Access, Authentication, CredentialCache, caller_of
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError
from tests.kit.asgi import Peer, scope_of

ANN = Caller("ann", scopes=frozenset({"tools:call"}))
WAY = ("POST", "/tool_calls")
KNOWN = ("authorization", "Bearer sidecall_a")


class Clock:
    """Tell the time that a test wants."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return it."""
        return self.now


def _scope(*headers: tuple[str, str], method: str = "POST", path: str = "/tool_calls") -> dict[str, Any]:
    scope = scope_of(method, path, headers)
    return {**scope, HEADERS: dict(scope["headers"])}


@pytest.mark.parametrize(
    ("headers", "is_known"),
    [
        ([KNOWN], True),
        ([KNOWN, ("accept", "*/*")], True),
        ([("authorization", "Bearer sidecall_b")], False),
        ([("authorization", "Bearer sidecall_a ")], False),
        ([("x-api-key", "Bearer sidecall_a")], False),
        ([KNOWN, ("x-api-key", "sidecall_a")], False),
        ([KNOWN, KNOWN], False),
        ([KNOWN, ("accept", "*/*"), ("accept", "text/plain")], False),
        ([], False),
    ],
)
def test_a_pass_is_for_the_same_credential_in_the_same_header(headers: list[tuple[str, str]], is_known: bool) -> None:
    """All else is looked at in full."""
    passes = CredentialCache(Clock())
    passes.keep(_scope(KNOWN), ANN, WAY)

    found = passes.find(_scope(*headers))

    assert (found is not None) is is_known


def test_a_key_by_itself_has_a_pass_too() -> None:
    """It is none as a bearer."""
    passes = CredentialCache(Clock())
    passes.keep(_scope(("x-api-key", "sidecall_a")), ANN, WAY)

    assert passes.find(_scope(("x-api-key", "sidecall_a"))) is not None
    assert passes.find(_scope(("authorization", "sidecall_a"))) is None


def test_a_pass_ends_after_half_a_second() -> None:
    """However often it was shown meanwhile."""
    clock = Clock()
    passes = CredentialCache(clock)
    passes.keep(_scope(KNOWN), ANN, WAY)

    clock.now = 0.49
    passes.keep(_scope(KNOWN), ANN, ("GET", "/tools"))
    found = passes.find(_scope(KNOWN))
    assert found is not None
    assert (found.caller, found.ways) == (ANN, {WAY, ("GET", "/tools")})

    clock.now = 0.5
    assert passes.find(_scope(KNOWN)) is None


def test_those_who_came_longest_ago_are_forgotten() -> None:
    """A thousand are remembered, and of each some requests."""
    passes = CredentialCache(Clock())
    for number in range(1025):
        passes.keep(_scope(("x-api-key", str(number))), ANN, WAY)
    for number in range(100):
        passes.keep(_scope(("x-api-key", "1024")), ANN, ("GET", f"/tools/{number}"))

    assert [passes.find(_scope(("x-api-key", number))) is not None for number in ("0", "1", "1024")] == [
        False,
        True,
        True,
    ]
    last = passes.find(_scope(("x-api-key", "1024")))
    assert last is not None
    assert len(last.ways) == 32


class Keys:
    """Know one key, and count how often it was asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def authenticate(self, scope: Any) -> Caller:
        """Return whose it is."""
        self.asked += 1
        if dict(scope["headers"]).get(b"authorization") != b"Bearer sidecall_a":
            raise RequestError("Who are you?")
        return ANN


def _requests() -> list[dict[str, Any]]:
    wrong = ("authorization", "Bearer sidecall_b")
    return [
        _scope(KNOWN),
        _scope(KNOWN),
        _scope(KNOWN, method="GET", path="/tools"),
        _scope(KNOWN, method="DELETE"),
        _scope(KNOWN, method="DELETE"),
        _scope(wrong),
        _scope(wrong),
        _scope(KNOWN),
    ]


async def test_a_credential_is_looked_at_once_for_each_kind_of_request() -> None:
    """Refused ones each time; and what proves it goes no further either way."""
    keys, seen = Keys(), list[Any]()

    async def serve(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append((caller_of(scope).subject, scope["headers"]))

    async def refuse(_scope: Any, _receive: Any, _send: Any, error: RequestError) -> None:
        seen.append(error.message)

    def permit(method: str, _path: str, _caller: Caller) -> None:
        if method == "DELETE":
            raise RequestError("Not you.")

    access = Access(keys, is_proved=True, hidden=(b"authorization",), is_by_credential=True)
    app, peer = Authentication(serve, access, refuse, lambda path: path == "/healthz", permit), Peer()
    asked = []

    for scope in _requests():
        await app(scope, peer.receive, peer.send)
        asked.append(keys.asked)

    assert asked == [1, 1, 2, 3, 4, 5, 6, 6]
    assert seen == [("ann", [])] * 3 + ["Not you."] * 2 + ["Who are you?"] * 2 + [("ann", [])]

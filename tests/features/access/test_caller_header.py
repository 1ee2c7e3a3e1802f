"""A gateway's header says who calls, and nothing else does."""

from typing import Any

import pytest

from sidecall.features.access.auth_methods import (
    PEER,
    CallerHeader,
    GatewayHeaders,
    Gateways,
    InvalidCaller,
    NamedOrAnonymous,
)
from sidecall.kernel.core.context import ANONYMOUS, EVERYTHING, Caller


def _sent(*values: bytes) -> dict[str, Any]:
    return {"headers": [(b"accept", b"*/*"), *((b"x-forwarded-user", value) for value in values)]}


HEADER = CallerHeader(GatewayHeaders("X-Forwarded-User"))
CALLERS = NamedOrAnonymous(HEADER)
MORE = CallerHeader(GatewayHeaders("X-User", "X-Tenant", "X-Scopes"))


@pytest.mark.parametrize(
    ("value", "subject"),
    [
        (b"ann", "ann"),
        (b"ann@example.com", "ann@example.com"),
        (b"CN=Ann Lee, OU=x", "CN=Ann Lee, OU=x"),
        (b" ann\t", "ann"),  # space around a header's value is none of it
        ("Jürgen Łoś".encode(), "Jürgen Łoś"),
        # The last bytes of these letters are blanks in Latin-1.
        ("Chloé à".encode(), "Chloé à"),
        ("Å".encode(), "Å"),
        (b"a" * 256, "a" * 256),
        ("ü".encode() * 256, "ü" * 256),
        (b"anonymous", "anonymous"),
    ],
)
def test_the_header_names_the_caller(value: bytes, subject: str) -> None:
    """In UTF-8; without headers for more it is of the one tenant and may do everything."""
    assert CALLERS.authenticate(_sent(value)) == Caller(subject, scopes=EVERYTHING)


@pytest.mark.parametrize("values", [(), (b"",), (b"  ",)], ids=["missing", "empty", "blank"])
def test_whoever_is_not_named_is_anonymous(values: tuple[bytes, ...]) -> None:
    """As everybody is where no gateway tells them apart."""
    assert CALLERS.authenticate(_sent(*values)) is ANONYMOUS


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ((b"a" * 257,), "must hold up to 256 printable characters"),
        ((b"ann\x00",), "must hold up to 256 printable characters"),
        ((b"ann\x7f",), "must hold up to 256 printable characters"),
        (("ann\u202e".encode(),), "must hold up to 256 printable characters"),  # turns the rest of a line around
        (("ann\u00a0lee".encode(),), "must hold up to 256 printable characters"),  # looks like a space
        (("ann\u00a0".encode(),), "must hold up to 256 printable characters"),
        ((b"J\xfcrgen",), "must be UTF-8"),
        ((b"ann", b"bob"), "must come once; it came 2 times"),
        ((b"ann", b"ann"), "must come once; it came 2 times"),
        ((b"", b"ann"), "must come once; it came 2 times"),
    ],
)
def test_what_names_nobody_for_certain_is_refused(values: tuple[bytes, ...], complaint: str) -> None:
    """Two values may be the client's and the gateway's; what was sent is not shown."""
    with pytest.raises(InvalidCaller) as refused:
        CALLERS.authenticate(_sent(*values))

    assert refused.value.message == f"The header X-Forwarded-User {complaint}."


def test_what_was_refused_once_is_refused_again() -> None:
    """Only what names a caller is remembered."""
    with pytest.raises(InvalidCaller):
        CALLERS.authenticate(_sent(b"\x01"))
    with pytest.raises(InvalidCaller):
        CALLERS.authenticate(_sent(b"\x01"))


def test_the_same_name_is_the_same_caller() -> None:
    """Read once."""
    callers = NamedOrAnonymous(CallerHeader(GatewayHeaders("x-forwarded-user")))

    assert callers.authenticate(_sent(b"ann")) is callers.authenticate(_sent(b"ann"))


@pytest.mark.parametrize(
    ("sent", "caller"),
    [
        ({}, None),
        ({"x-tenant": "acme", "x-scopes": "*"}, None),  # of nobody
        ({"x-user": "ann"}, Caller("ann")),  # who may do nothing
        (
            {"x-user": "ann", "x-scopes": "tools:call  calls:read"},
            Caller("ann", scopes=frozenset(("tools:call", "calls:read"))),
        ),
        ({"x-user": "ann", "x-tenant": "acme", "x-scopes": "*"}, Caller("ann", "acme", EVERYTHING)),
        ({"x-user": "ann", "x-tenant": ""}, Caller("ann")),
    ],
)
def test_a_gateway_says_tenant_and_scopes_too(sent: dict[str, str], caller: Caller | None) -> None:
    """Where headers for them are named."""
    assert MORE.recognize({"headers": [(name.encode(), value.encode()) for name, value in sent.items()]}) == caller


@pytest.mark.parametrize("name", ["x-tenant", "x-scopes"])
def test_each_header_comes_once(name: str) -> None:
    """One of two may be the client's own."""
    sent = [(b"x-user", b"ann"), (name.encode(), b"a"), (name.encode(), b"b")]

    with pytest.raises(InvalidCaller):
        MORE.recognize({"headers": sent})


@pytest.mark.parametrize(
    ("peer", "is_believed"),
    [
        (("10.1.2.3", 1), True),
        (("10.2.0.1", 1), False),
        (("::ffff:10.1.2.3", 1), True),
        (("::1", 1), True),
        (("fe80::1", 1), False),
        (("testclient", 1), False),
        (None, False),  # a Unix socket
    ],
)
def test_only_named_peers_are_believed(peer: tuple[str, int] | None, is_believed: bool) -> None:
    """Of anybody else the header counts for nothing."""
    header = CallerHeader(GatewayHeaders("X-Forwarded-User"), Gateways(["10.1.0.0/16", "::1"]))

    assert (header.recognize({**_sent(b"ann"), "client": peer}) is not None) is is_believed


def test_what_a_proxy_says_of_its_client_makes_nobody_a_gateway() -> None:
    """The address counts from which the request came."""
    header = CallerHeader(GatewayHeaders("X-Forwarded-User"), Gateways(["10.1.0.0/16"]))

    assert header.recognize({**_sent(b"ann"), "client": ("10.1.2.3", 0), PEER: ("127.0.0.1", 1)}) is None
    assert header.recognize({**_sent(b"ann"), "client": ("9.9.9.9", 0), PEER: ("10.1.2.3", 1)}) is not None

"""A gateway's header says who calls, and nothing else does."""

import pytest
from starlette.datastructures import Headers

from sidecall.auth.caller_header import CallerHeader, InvalidCaller
from sidecall.core.context import ANONYMOUS, Caller


def _sent(*values: bytes) -> Headers:
    return Headers(raw=[(b"accept", b"*/*"), *((b"x-forwarded-user", value) for value in values)])


CALLERS = CallerHeader("X-Forwarded-User")


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
async def test_the_header_names_the_caller(value: bytes, subject: str) -> None:
    """In UTF-8; tenant and scopes are what everybody has."""
    assert await CALLERS.authenticate(_sent(value)) == Caller(subject)


@pytest.mark.parametrize("values", [(), (b"",), (b"  ",)], ids=["missing", "empty", "blank"])
async def test_whoever_is_not_named_is_anonymous(values: tuple[bytes, ...]) -> None:
    """As everybody is where no gateway tells them apart."""
    assert await CALLERS.authenticate(_sent(*values)) is ANONYMOUS


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
async def test_what_names_nobody_for_certain_is_refused(values: tuple[bytes, ...], complaint: str) -> None:
    """Two values may be the client's and the gateway's; what was sent is not shown."""
    with pytest.raises(InvalidCaller) as refused:
        await CALLERS.authenticate(_sent(*values))

    assert refused.value.message == f"The header X-Forwarded-User {complaint}."


async def test_what_was_refused_once_is_refused_again() -> None:
    """Only what names a caller is remembered."""
    with pytest.raises(InvalidCaller):
        await CALLERS.authenticate(_sent(b"\x01"))
    with pytest.raises(InvalidCaller):
        await CALLERS.authenticate(_sent(b"\x01"))


async def test_the_same_name_is_the_same_caller() -> None:
    """Read once."""
    callers = CallerHeader("x-forwarded-user")

    assert await callers.authenticate(_sent(b"ann")) is await callers.authenticate(_sent(b"ann"))

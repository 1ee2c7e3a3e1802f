"""Authentication methods, tried in order."""

from collections.abc import Awaitable, Iterator, Sequence
from typing import Protocol

from starlette.types import Scope

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.overload import Overloaded

# The caller, directly or as an awaitable; None where a request has no such credential.
Found = Caller | Awaitable[Caller] | None


class Unauthenticated(RequestError):
    """The request does not prove who sends it."""

    is_tried = False  # Whether the request has a credential.


class BadCredential(Unauthenticated):
    """The request does not prove who sends it."""

    is_tried = True


class IssuerUnreachable(Overloaded):
    """The issuer of tokens cannot be asked for its keys just now."""

    def __init__(self) -> None:
        super().__init__("The issuer of tokens cannot be asked for its keys just now.", retry_after=5)


class Method(Protocol):
    """One authentication method."""

    def recognize(self, scope: Scope) -> Found:
        """Return the caller of a request; None without a credential of this kind.

        Raises:
            BadCredential: The credential is not valid, or no longer.
            RequestError: The credential cannot be read.
        """


class Methods:
    """Use the first method for which a request has a credential; refuse a request without any."""

    def __init__(self, methods: Sequence[Method]) -> None:
        self._methods = methods

    def authenticate(self, scope: Scope) -> Caller | Awaitable[Caller]:
        """Return the caller of a request, directly or as an awaitable.

        Raises:
            Unauthenticated: It has no credential.
            RequestError: Its credential cannot be read.
        """
        for method in self._methods:
            found = method.recognize(scope)
            if found is not None:
                return found
        raise Unauthenticated(ASK)


ASK = "Send a credential in the header `Authorization: Bearer …`; this server serves nobody without one."
# One text for all reasons, so that it does not reveal which keys exist.
REFUSE = "The credential is none of this server, or not valid any more."


def read_bearer(scope: Scope) -> str | None:
    """Return the credential of `Authorization: Bearer …`; None where there is none.

    Raises:
        BadCredential: There are several.
    """
    found = [value for name, value in scope["headers"] if name == b"authorization"]
    tokens = [token for value in found if (token := _after_scheme(value)) is not None]
    if len(found) > 1 and tokens:
        raise BadCredential(REFUSE)
    return tokens[0] if tokens else None


def _after_scheme(value: bytes) -> str | None:
    scheme, _, rest = value.decode("latin-1").partition(" ")
    return rest.strip(" ") if scheme.lower() == "bearer" else None


def values_of(scope: Scope, header: bytes) -> Iterator[bytes]:
    """Yield the values of a header, each as it came."""
    return (value for name, value in scope["headers"] if name == header)

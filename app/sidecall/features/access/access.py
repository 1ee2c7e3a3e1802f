"""How a server authenticates its callers."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from starlette.types import Scope

from sidecall.features.access.resource import ProtectedResource
from sidecall.kernel.core.context import Caller


class Authenticator(Protocol):
    """Recognizes callers by their requests."""

    def authenticate(self, scope: Scope) -> Caller | Awaitable[Caller]:
        """Return the caller of a request, directly or as an awaitable.

        Raises:
            RequestError: The request has no valid, unambiguous credential.
        """


@dataclass(frozen=True, slots=True)
class Access:
    """The server's authentication: its methods, and whether credentials are required.

    `hidden` are the headers that carry credentials; nothing but authentication reads them. `resource` is the metadata
    about accepted tokens, where tokens are accepted. `is_by_credential` is true when the caller depends on nothing but
    the request's credential. `proofs` names the methods: `api_key`, `jwt`, `gateway`. `follow` takes a function that is
    called when a credential may stand for something else than before.
    """

    authenticator: Authenticator
    is_proved: bool
    hidden: Collection[bytes] = ()
    resource: ProtectedResource | None = None
    is_by_credential: bool = False
    proofs: Collection[str] = ()
    follow: Callable[[Callable[[], object]], None] | None = None

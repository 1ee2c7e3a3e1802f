"""What a server knows its callers by."""

from collections.abc import Awaitable, Collection
from dataclasses import dataclass
from typing import Protocol

from starlette.types import Scope

from sidecall.features.access.resource import ProtectedResource
from sidecall.kernel.core.context import Caller


class Authenticator(Protocol):
    """Whoever knows callers by their requests."""

    def authenticate(self, scope: Scope) -> Caller | Awaitable[Caller]:
        """Return who sends a request, at once or later.

        Raises:
            RequestError: The request does not say it, or not for certain.
        """


@dataclass(frozen=True, slots=True)
class Access:
    """Who knows the callers, and whether they have to prove who they are.

    `hidden` are the headers that prove it, which are nobody's business afterwards. `resource` is what they are told of
    tokens, where those are taken. `is_by_credential` says that nothing but the credential of a request decides whose it
    is. `proofs` names the ways to prove it: `api_key`, `jwt`, `gateway`.
    """

    authenticator: Authenticator
    is_proved: bool
    hidden: Collection[bytes] = ()
    resource: ProtectedResource | None = None
    is_by_credential: bool = False
    proofs: Collection[str] = ()

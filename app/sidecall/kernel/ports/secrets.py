"""Storage and look-up of callers' secrets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError, SidecallError, ToolExecutionError, ToolFailure

# Whose secret a tool takes: its caller's own, the server's, or the caller's where there is one.
SecretOwner = Literal["caller", "server", "either"]

# Prefix of names for what the server itself keeps for callers; no caller's secret can have it.
RESERVED = ":"


class SecretsOff(RequestError):
    """Secrets of callers are not kept here; the operator of this server would set SIDECALL_SECRETS_KEY."""

    problem = (404, "secrets-off")


class UnknownSecret(RequestError):
    """You have no such secret here."""

    problem = (404, "unknown-secret")


class InvalidSecret(RequestError):
    """The body or the name is not that of a secret."""

    problem = (422, "invalid-secret")


class TooManySecrets(RequestError):
    """No more secrets are kept here; delete some."""

    problem = (409, "too-many-secrets")


class SecretUnreadable(SidecallError):
    """A secret was encrypted with another key than this server has, or has been tampered with."""

    def __init__(self, name: str, message: str | None = None) -> None:
        super().__init__(message)
        self.name = name


class SecretLost(ToolExecutionError):
    """A secret that the caller keeps here cannot be decrypted: the caller is told what helps, the operator why."""

    def __init__(self, tool: str, name: str) -> None:
        # Not the text of a crash: its reader can fix this.
        ToolFailure.__init__(
            self,
            f"Error: {tool} cannot run: this server cannot decrypt your secret {name} any more. Send it again with "
            f"PUT /secrets/{name}.",
        )


class SecretListing(BaseModel, defer_build=True):
    """The metadata of a secret, never its value."""

    model_config = ConfigDict(frozen=True)

    name: str
    created_at: datetime
    updated_at: datetime = Field(description="When its value was sent last.")


@dataclass(frozen=True, slots=True)
class SealedSecret:
    """An encrypted secret, with the id of its key."""

    tenant: str
    caller: str
    name: str
    key_id: str
    sealed: bytes


class Seal(Protocol):
    """Encrypts and decrypts."""

    key_id: str

    def seal(self, tenant: str, caller: str, name: str, value: str) -> SealedSecret:
        """Encrypt a secret of a caller."""

    def unseal(self, secret: SealedSecret) -> str:
        """Decrypt a secret.

        Raises:
            SecretUnreadable: It cannot be.
        """


class SealedSecrets(Protocol):
    """Stores encrypted secrets; each method is atomic."""

    async def put(self, secret: SealedSecret) -> None:
        """Store a secret, replacing the one with the same caller and name.

        Raises:
            TooManySecrets: There is no room for it.
        """

    async def remove(self, caller: Caller, name: str) -> None:
        """Remove a secret.

        Raises:
            UnknownSecret: The caller has none of this name.
        """

    async def list(self, caller: Caller) -> Sequence[SecretListing]:
        """List a caller's secrets by their names."""

    async def find(self, caller: Caller, names: Collection[str]) -> Sequence[SealedSecret]:
        """Return a caller's secrets with these names."""

    async def list_old(self, key_id: str, limit: int = 100) -> Sequence[SealedSecret]:
        """List some secrets that are encrypted with another key."""

    async def renew(self, old: SealedSecret, new: SealedSecret) -> None:
        """Replace a secret by a re-encrypted one, unless it has changed."""


class OwnSecrets(Protocol):
    """Finds the secrets of callers for their calls."""

    async def find(self, caller: Caller, names: Collection[str]) -> Mapping[str, str]:
        """Return a caller's secrets with these names.

        Raises:
            SecretUnreadable: One of them cannot be decrypted.
        """

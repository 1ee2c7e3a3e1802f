"""People's access tokens for tools, and where people sign in."""

from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError, SidecallError


class SignIn(BaseModel, defer_build=True):
    """The sign-in that a person must complete before the call can go on."""

    model_config = ConfigDict(frozen=True)

    provider: str = Field(description="At whom they sign in.")
    url: str = Field(description="What they visit with a browser.")


class UserTokenRefused(SidecallError):
    """A provider takes a person's token no more.

    A tool raises it when it is told so, as by a 401: the token is forgotten, the call waits until they have signed in
    again, and then runs from the top.
    """

    def __init__(self, provider: str | None = None) -> None:
        """Refuse a token.

        Args:
            provider: Whose; all of the tool's where it is left out.
        """
        super().__init__(f"The token of {provider or 'the provider'} is refused.")
        self.provider = provider


class UnknownUserToken(RequestError):
    """You have no token of such a provider here."""

    problem = (404, "unknown-user-token")


class TokenUnavailable(SidecallError):
    """A person's token cannot be had just now."""


class TokenListing(BaseModel, defer_build=True):
    """The metadata of a person's token, never the token."""

    model_config = ConfigDict(frozen=True)

    provider: str
    created_at: datetime = Field(description="When the person signed in first.")
    updated_at: datetime = Field(description="When it was got or refreshed last.")


class TokenRemoval(BaseModel, defer_build=True):
    """The result of deleting a token."""

    provider: str
    revoked: bool = Field(description="Whether its provider has said to take it no more.")


class UserTokens(Protocol):
    """Finds the access tokens of callers' people."""

    async def find(self, caller: Caller, provider: str) -> str | None:
        """Return a valid token, refreshed if it is about to expire; None if there is none.

        Raises:
            TokenUnavailable: It has to be refreshed, and its provider cannot be asked just now.
        """

    def invite(self, caller: Caller, provider: str) -> SignIn:
        """Return the address at which the caller's person signs in.

        Raises:
            TokenUnavailable: There is no such provider.
        """

    async def look_again(self, caller: Caller, provider: str) -> None:
        """Resume the calls that wait for the caller's person to sign in, if that has happened."""

    async def drop(self, caller: Caller, provider: str, token: str) -> None:
        """Delete a token that its provider rejects, unless a newer one has been stored."""

"""With what a tool acts for a person, and where they sign in to allow that."""

from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError, SidecallError


class SignIn(BaseModel, defer_build=True):
    """Where a person lets tools act for them, before the call can go on."""

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


class TokenUnavailable(SidecallError):
    """A person's token cannot be had just now."""


class TokenListing(BaseModel, defer_build=True):
    """What is told of a person's token: never the token."""

    model_config = ConfigDict(frozen=True)

    provider: str
    created_at: datetime = Field(description="When the person signed in first.")
    updated_at: datetime = Field(description="When it was got or refreshed last.")


class TokenRemoval(BaseModel, defer_build=True):
    """What became of a token that was forgotten."""

    provider: str
    revoked: bool = Field(description="Whether its provider has said to take it no more.")


class UserTokens(Protocol):
    """Whoever has the tokens of callers' persons."""

    async def find(self, caller: Caller, provider: str) -> str | None:
        """Return a token that is valid, refreshed where it was about to expire; None if there is none any more.

        Raises:
            TokenUnavailable: It has to be refreshed, and its provider cannot be asked just now.
        """

    def invite(self, caller: Caller, provider: str) -> SignIn:
        """Make the address at which the caller's person signs in.

        Raises:
            TokenUnavailable: There is no such provider.
        """

    async def look_again(self, caller: Caller, provider: str) -> None:
        """Let the calls go on that wait for the caller's person, where they have signed in."""

    async def drop(self, caller: Caller, provider: str, token: str) -> None:
        """Forget a token that its provider refuses, unless there is another one by now."""

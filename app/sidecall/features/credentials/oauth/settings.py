"""Settings of sign-in."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings

from sidecall.lazy_imports import later
from sidecall.outgoing.addresses import names_host

if TYPE_CHECKING:
    from sidecall.features.credentials.oauth.providers import ProviderSettings

# With which what reads TOML comes, and the models of providers.
_read_providers: "Callable[[str], dict[str, ProviderSettings]]" = later(
    "sidecall.features.credentials.oauth.providers:read_providers"
)
_PUBLIC_URL = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")


class OAuthSettings(BaseSettings, defer_build=True):
    """Whom tools may act at for a person, and where persons come back to."""

    oauth: SecretStr | None = Field(
        default=None,
        description="At whom persons sign in, so that tools may act for them: a file (TOML or JSON), or its text. "
        "Takes `SIDECALL_SECRETS_KEY` and `SIDECALL_PUBLIC_URL`.",
    )
    public_url: str | None = Field(
        default=None,
        description="Under which address browsers reach this server: `https://tools.example.com`. Persons come back to "
        "`/oauth/callback` below it.",
    )

    @field_validator("oauth")
    @classmethod
    def _has_providers(cls, text: SecretStr | None) -> SecretStr | None:
        if text is not None:
            _read_providers(text.get_secret_value())
        return text

    @field_validator("public_url")
    @classmethod
    def _is_public_url(cls, url: str | None) -> str | None:
        if url is not None and not (_PUBLIC_URL.fullmatch(url) and names_host(url)):
            raise ValueError("write an address such as https://tools.example.com")
        return None if url is None else url.rstrip("/")

    @model_validator(mode="after")
    def _leads_back(self) -> "OAuthSettings":
        if self.oauth is not None and self.public_url is None:
            raise ValueError("SIDECALL_OAUTH takes SIDECALL_PUBLIC_URL, so that persons who sign in find back")
        return self

    @property
    def providers(self) -> "dict[str, ProviderSettings]":
        """The configured providers, by name."""
        return {} if self.oauth is None else _read_providers(self.oauth.get_secret_value())


START, CALLBACK = "/oauth/start", "/oauth/callback"


@dataclass(frozen=True, slots=True)
class SignInUrls:
    """The public URL of this server, the lifetime of links in seconds, and the proxy for requests to providers."""

    public_url: str
    link_ttl: float
    proxy: str | None = None

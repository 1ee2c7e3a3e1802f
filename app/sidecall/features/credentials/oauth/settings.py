"""Settings of sign-in."""

import re

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings

from sidecall.features.credentials.oauth.providers import ProviderSettings, read_providers
from sidecall.outgoing.addresses import names_host

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
            read_providers(text.get_secret_value())
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
    def providers(self) -> dict[str, ProviderSettings]:
        """The configured providers, by name."""
        return {} if self.oauth is None else read_providers(self.oauth.get_secret_value())


START, CALLBACK = "/oauth/start", "/oauth/callback"

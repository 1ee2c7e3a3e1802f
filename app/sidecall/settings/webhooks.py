"""Settings for webhooks."""

import base64
import binascii
from typing import TYPE_CHECKING

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from sidecall.later import Later
from sidecall.loading.tool_lists import Texts

if TYPE_CHECKING:
    from sidecall.features.webhooks import hosts as _hosts
else:
    _hosts = Later("sidecall.features.webhooks.hosts")

_BYTES = range(24, 65)


class WebhookSettings(BaseSettings, defer_build=True):
    """The targets of webhooks, and their signing secret."""

    webhook_hosts: Texts = Field(
        default=(),
        description="Hosts that may be told when a call has ended, separated by commas: `hooks.example.com`, "
        "`*.example.com:8443`, `http://localhost:9000`. Without `http://` only https; names lead to public addresses "
        "only.",
    )
    webhook_secret: SecretStr | None = Field(
        default=None,
        validate_default=True,
        description="What that is signed with: `whsec_` and the base64 of 24 to 64 random bytes. Several, separated by "
        "spaces, while it is changed.",
    )

    @field_validator("webhook_hosts")
    @classmethod
    def _are_receivers(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        for entry in entries:
            _hosts.AllowedHost.parse(entry)
        return entries

    @field_validator("webhook_secret")
    @classmethod
    def _are_keys(cls, secret: SecretStr | None, given: ValidationInfo) -> SecretStr | None:
        keys = [] if secret is None else secret.get_secret_value().split()
        if not all(map(_is_key, keys)):
            raise ValueError("write whsec_ and the base64 of 24 to 64 random bytes")
        if given.data.get("webhook_hosts") and not keys:
            raise ValueError("SIDECALL_WEBHOOK_HOSTS needs it: receivers know by it who tells them")
        return secret

    @property
    def webhook_keys(self) -> list[str]:
        """The list of secrets."""
        return [] if self.webhook_secret is None else self.webhook_secret.get_secret_value().split()


def _is_key(text: str) -> bool:
    try:
        return text.startswith("whsec_") and len(base64.b64decode(text[6:], validate=True)) in _BYTES
    except binascii.Error:
        return False

"""Settings for webhooks."""

import base64
import binascii
import re

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from sidecall.features.webhooks.hosts import AllowedHost
from sidecall.features.webhooks.receivers import read_receiver
from sidecall.kernel.core.errors import CallbackRefused
from sidecall.kernel.variables import Texts

_BYTES = range(24, 65)
_SEPARATORS = re.compile(r"[\s,]+")


class WebhookSettings(BaseSettings, defer_build=True):
    """The targets of webhooks, and their signing secret."""

    webhook_hosts: Texts = Field(
        default=(),
        description="Hosts that may be told when a call has ended, separated by commas: `hooks.example.com`, "
        "`*.example.com:8443`, `http://localhost:9000`. Without `http://` only https; names lead to public addresses "
        "only.",
    )
    approval_webhooks: SecretStr | None = Field(
        default=None,
        description="Who is told of approvals: addresses such as `https://hooks.example.com/approvals`, separated by "
        "commas. Their names may lead to private addresses. Takes `SIDECALL_WEBHOOK_SECRET`.",
    )
    approval_expiry_notice: float = Field(
        default=600.0,
        ge=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="Seconds before its expiry in which they are told again of a call that nobody has decided about; "
        "half of the time for which it waits at most.",
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
            AllowedHost.parse(entry)
        return entries

    @field_validator("approval_webhooks")
    @classmethod
    def _are_addresses(cls, text: SecretStr | None) -> SecretStr | None:
        for url in _split(text):
            try:
                read_receiver(url)
            except CallbackRefused:  # It is not said back: there may be a secret in it.
                raise ValueError(
                    "write addresses such as https://hooks.example.com/approvals, separated by commas, without a name, "
                    "a password or a #"
                ) from None
        return text

    @field_validator("webhook_secret")
    @classmethod
    def _are_keys(cls, secret: SecretStr | None, given: ValidationInfo) -> SecretStr | None:
        keys = [] if secret is None else secret.get_secret_value().split()
        if not all(map(_is_key, keys)):
            raise ValueError("write whsec_ and the base64 of 24 to 64 random bytes")
        if given.data.get("webhook_hosts") and not keys:
            raise ValueError("SIDECALL_WEBHOOK_HOSTS needs it: receivers know by it who tells them")
        if _split(given.data.get("approval_webhooks")) and not keys:
            raise ValueError("SIDECALL_APPROVAL_WEBHOOKS needs it: receivers know by it who tells them")
        return secret

    @property
    def approval_receivers(self) -> list[str]:
        """The addresses that are told of approvals, each once."""
        return list(dict.fromkeys(_split(self.approval_webhooks)))

    @property
    def webhook_keys(self) -> list[str]:
        """The list of secrets."""
        return [] if self.webhook_secret is None else self.webhook_secret.get_secret_value().split()


def _split(text: SecretStr | None) -> list[str]:
    return [] if text is None else _SEPARATORS.sub(" ", text.get_secret_value()).split()


def _is_key(text: str) -> bool:
    try:
        return text.startswith("whsec_") and len(base64.b64decode(text[6:], validate=True)) in _BYTES
    except binascii.Error:
        return False

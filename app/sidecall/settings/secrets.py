"""Settings for secrets: the server's, and those of callers."""

import base64
import binascii
import os
from pathlib import Path

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from sidecall.kernel.variables import Texts

USUAL_SECRETS = Path("/run/secrets")  # Where orchestrators put them.
_BYTES = 32


class SecretSettings(BaseSettings, defer_build=True):
    """Where secrets are, and the encryption keys for callers' secrets."""

    secrets_dir: Path = Field(
        default=USUAL_SECRETS, description="Folder whose files are secrets, looked up after the environment."
    )
    secrets_key: SecretStr | None = Field(
        default=None,
        description="What the secrets of callers are encrypted with: the base64 of 32 random bytes, as of `openssl "
        "rand -base64 32`. Several, separated by spaces, while it is changed: the first encrypts. Without one callers "
        "keep no secrets here.",
    )
    secrets_key_file: Path | None = Field(
        default=None, description="File with these keys, one a line, in place of SIDECALL_SECRETS_KEY."
    )
    max_secrets: int = Field(
        default=10_000, ge=1, description="Most secrets of callers that are kept; more are answered with 409."
    )
    process_env: Texts = Field(
        default=(),
        description="Variables of the environment that tools in processes see, separated by commas: `AWS_REGION,MY_*`; "
        "`*` for all. Without it only those that programs need to run.",
    )

    @field_validator("secrets_dir")
    @classmethod
    def _is_there(cls, folder: Path) -> Path:
        """Refuse a configured folder that is not readable; the default one may be missing."""
        if folder != USUAL_SECRETS and not (os.path.isdir(folder) and os.access(folder, os.X_OK)):
            raise ValueError("there is no such folder, or it may not be read")
        return folder

    @field_validator("secrets_key")
    @classmethod
    def _are_encryption_keys(cls, secret: SecretStr | None) -> SecretStr | None:
        require_keys([] if secret is None else secret.get_secret_value().split())
        return secret

    @field_validator("secrets_key_file")
    @classmethod
    def _has_keys(cls, path: Path | None) -> Path | None:
        if path is not None:
            keys = _read_keys(path)
            if not keys:
                raise ValueError("there is no such file, or it has no key")
            require_keys(keys)
        return path

    @property
    def secrets_keys(self) -> list[str]:
        """The list of keys; the first encrypts."""
        given = [] if self.secrets_key is None else self.secrets_key.get_secret_value().split()
        return given if given or self.secrets_key_file is None else _read_keys(self.secrets_key_file)


def _read_keys(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except (OSError, UnicodeDecodeError):
        return []


def require_keys(keys: list[str]) -> None:
    """Refuse what is no key of 32 bytes in base64.

    Raises:
        ValueError: One is none.
    """
    for key in keys:
        try:
            is_one = len(base64.b64decode(key, validate=True)) == _BYTES
        except binascii.Error:
            is_one = False
        if not is_one:
            raise ValueError("write the base64 of 32 random bytes, as `openssl rand -base64 32` prints it")

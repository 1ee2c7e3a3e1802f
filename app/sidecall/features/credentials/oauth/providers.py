"""Configured providers for sign-in."""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from sidecall.kernel.json_data.pointer import format_path
from sidecall.outgoing.addresses import names_host

# RFC 6749 demands it; loopback cannot be read by others.
_SAFE = re.compile(
    r"^(?:https://[^/?#@\s]+([/?][^#\s]*)?|http://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?([/?][^#\s]*)?)\Z"
)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
# What a request for a person's consent says by itself.
_OURS = frozenset(
    "response_type client_id redirect_uri scope state code_challenge code_challenge_method response_mode".split()
)

_WITH_SECRET = (None, "client_secret_basic", "client_secret_post")
ClientProof = Literal["client_secret_basic", "client_secret_post", "none"]


def _require_host(address: str) -> str:
    if not names_host(address):
        raise ValueError("write an address with https:// and a host")
    return address


Address = Annotated[str, StringConstraints(pattern=_SAFE, max_length=2000), AfterValidator(_require_host)]


class ProviderSettings(BaseModel, defer_build=True):
    """One provider: its endpoints, or an issuer that says which they are (RFC 8414), and who this server is there."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    issuer: Address | None = None
    authorization_endpoint: Address | None = None
    token_endpoint: Address | None = None
    revocation_endpoint: Address | None = None
    client_id: str = Field(min_length=1)
    client_secret: str | None = Field(default=None, min_length=1, repr=False)
    client_secret_file: Path | None = None
    token_endpoint_auth_method: ClientProof | None = None
    scopes: tuple[str, ...] = ()
    params: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        has_endpoints = self.authorization_endpoint is not None and self.token_endpoint is not None
        if not has_endpoints and self.issuer is None:
            raise ValueError("write authorization_endpoint and token_endpoint, or an issuer that says which they are")
        if self.client_secret is not None and self.client_secret_file is not None:
            raise ValueError("write client_secret or client_secret_file, not both")
        if self.has_secret and self.token_endpoint_auth_method not in _WITH_SECRET:
            raise ValueError("token_endpoint_auth_method is none, so there is no use for a client_secret")
        if orphans := sorted(_OURS & self.params.keys()):
            raise ValueError(f"params has {orphans[0]!r}, which is not yours to set")
        return self

    @property
    def has_secret(self) -> bool:
        """Whether a client secret is configured."""
        return self.client_secret is not None or self.client_secret_file is not None

    def read_secret(self) -> str | None:
        """Return the client secret; its file is read each time, since mounted files change.

        Raises:
            OSError: The file cannot be read.
        """
        if self.client_secret_file is None:
            return self.client_secret
        return self.client_secret_file.read_text(encoding="utf-8").strip()


_PROVIDERS = TypeAdapter(dict[str, ProviderSettings])


def read_providers(text: str) -> dict[str, ProviderSettings]:
    """Read providers from a file or a text; `${NAME}` is replaced by an environment variable.

    Raises:
        ValueError: The file is missing or invalid, or a variable is not set.
    """
    said = _read_document(text)
    for name in said:
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"{name[:80]!r} is no name of a provider: use letters, digits, _ and -")
    try:
        providers = _PROVIDERS.validate_python(_fill_in(said))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{format_path(first['loc'])}: {first['msg']}") from None
    for name, provider in providers.items():
        try:
            provider.read_secret()
        except (OSError, UnicodeDecodeError):
            raise ValueError(f"{name}: the file of its client_secret cannot be read") from None
    return providers


def _read_document(text: str) -> dict[str, Any]:
    is_text = text.lstrip().startswith("{") or "\n" in text or "=" in text
    try:
        body = text if is_text else Path(text).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ValueError("there is no such file, or it cannot be read") from None
    try:
        said = json.loads(body) if body.lstrip().startswith("{") else tomllib.loads(body)
    except ValueError as error:
        # The value is left out, since it may be a secret.
        raise ValueError(f"it is neither TOML nor JSON ({type(error).__name__})") from None
    if not isinstance(said, dict) or not said:
        raise ValueError("it names no provider")
    return said


def _fill_in(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fill_in(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill_in(inner) for inner in value]
    return _VARIABLE.sub(_look_up, value) if isinstance(value, str) else value


def _look_up(found: re.Match[str]) -> str:
    value = os.environ.get(found[1])
    if not value:
        raise ValueError(f"the variable {found[1]}, which it names, is not set")
    return value

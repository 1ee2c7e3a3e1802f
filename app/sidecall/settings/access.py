"""Settings for authentication and access."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from sidecall.kernel.variables import SPLIT, Texts
from sidecall.outgoing.addresses import names_host

# A name in ASCII, also one with a wildcard in front; IPv6, with or without brackets.
_HOST = re.compile(
    r"\*|(\*\.)?[\w-]+(\.[\w-]+)*\.?|\[[0-9a-fA-F:.]+\]|[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*", re.ASCII
)
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/@?#*]+")
_SAFE = re.compile(r"https://[^/]|http://(localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Browsers leave the port out that a scheme implies.
_IMPLIED_PORTS = {"http": ":80", "https": ":443"}

AuthMethod = Literal["none", "api_key", "jwt", "gateway"]
# Public-key algorithms only: with a symmetric one a token could be signed with the public key.
TokenAlgorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA"
]
MetricsMode = Literal["on", "open", "off"]


class AccessSettings(BaseSettings, defer_build=True):
    """Settings for authentication and access."""

    model_config = SettingsConfigDict(env_prefix="SIDECALL_", env_ignore_empty=True, frozen=True, extra="forbid")

    auth: Annotated[tuple[AuthMethod, ...], NoDecode, SPLIT] = Field(
        default=("none",),
        description="How callers authenticate, separated by commas: `api_key`, `jwt`, `gateway`. With `none` every "
        "client has all rights, so it listens on loopback only.",
    )
    allow_unauthenticated: bool = Field(
        default=False,
        description="Allow other addresses than loopback without authentication.",
    )
    keys_file: Path = Field(
        default=Path(".sidecall/keys.jsonl"),
        description="File with the hashes of the keys that `api_key` takes; `sidecall keys` writes it.",
    )
    docs: bool = Field(default=True, description="Whether the API explorer and the OpenAPI document are served.")
    metrics: MetricsMode = Field(
        default="on",
        description="Whether `/metrics` is served: `on` (with authentication, only to the scope `server:operate`), "
        "`open` to everyone, or `off`.",
    )
    toolsets: Path | None = Field(default=None, description="File (TOML) with the toolset of each caller.")
    jwt_issuer: str | None = Field(default=None, description="Issuer of the tokens that `jwt` accepts: their `iss`.")
    jwt_audience: Texts = Field(
        default=(),
        description="Accepted audiences of the tokens (`aud`), separated by commas: this server's address.",
    )
    jwt_keys_url: str | None = Field(
        default=None,
        description="URL of the issuer's public keys (JWKS); by default found by OpenID Connect discovery.",
    )
    jwt_algorithms: Annotated[tuple[TokenAlgorithm, ...], NoDecode, SPLIT] = Field(
        default=("RS256", "ES256"), description="Accepted signature algorithms, separated by commas."
    )
    jwt_scopes_claim: str = Field(default="scope", description="Claim with the caller's scopes.")
    jwt_tenant_claim: str | None = Field(
        default=None, description="Claim with the caller's tenant; without it there is one tenant."
    )
    hosts: Texts = Field(
        default=(),
        description="More host names of this server, separated by commas: `tools.example.com`, `*.example.com` for "
        "all below it, `*` for any.",
    )
    origins: Texts = Field(
        default=(),
        description="Origins of other web pages that may use this server, separated by commas: "
        "`https://app.example.com`.",
    )
    caller_header: str | None = Field(
        default=None,
        description="Header in which a gateway that you trust says who calls; without it all are one caller.",
    )
    tenant_header: str | None = Field(
        default=None, description="Header in which it names the tenant; without it there is one tenant."
    )
    scopes_header: str | None = Field(
        default=None,
        description="Header with the caller's scopes, separated by spaces; without it the caller has all.",
    )
    gateways: Texts = Field(
        default=(),
        description="Addresses and networks whose headers are trusted, separated by commas: `10.0.0.7,10.1.0.0/16`. "
        "With `gateway` the default is loopback.",
    )

    @field_validator("auth")
    @classmethod
    def _are_methods(cls, methods: tuple[AuthMethod, ...]) -> tuple[AuthMethod, ...]:
        if not methods or len(set(methods)) < len(methods) or ("none" in methods and len(methods) > 1):
            raise ValueError("write none, or each way once, such as api_key,gateway")
        return methods

    @field_validator("jwt_algorithms")
    @classmethod
    def _are_some(cls, algorithms: tuple[TokenAlgorithm, ...]) -> tuple[TokenAlgorithm, ...]:
        # A least length of the field would be missed, too, where one of them is none.
        if not algorithms:
            raise ValueError("write one at least, such as RS256")
        return algorithms

    @field_validator("caller_header", "tenant_header", "scopes_header")
    @classmethod
    def _is_header(cls, name: str | None) -> str | None:
        if name is not None and _HEADER.fullmatch(name) is None:
            raise ValueError("write the name of a header, such as X-Forwarded-User")
        return name

    @field_validator("gateways")
    @classmethod
    def _are_networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        for network in networks:
            try:
                ip_network(network)
            except ValueError:
                raise ValueError(f"{network!r} is no address and no network, such as 10.0.0.7 or 10.1.0.0/16") from None
        return networks

    @field_validator("hosts")
    @classmethod
    def _are_hosts(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if _HOST.fullmatch(name) is None:
                raise ValueError(f"{name!r} is no host: write a name, an address or *.example.com, without a port")
        return names

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        origins = tuple(origin.lower().removesuffix("/") for origin in origins)
        for origin in origins:
            if _ORIGIN.fullmatch(origin) is None:
                raise ValueError(f"{origin!r} is no origin: write https://app.example.com, with its port if it has one")
        return tuple(origin.removesuffix(_IMPLIED_PORTS.get(origin.partition(":")[0], "/")) for origin in origins)

    @field_validator("jwt_issuer", "jwt_keys_url")
    @classmethod
    def _is_safe(cls, address: str | None) -> str | None:
        if address is not None and not (_SAFE.match(address) and names_host(address)):
            raise ValueError("write an address with https://, or with http:// one on this machine")
        return address

    @model_validator(mode="after")
    def _goes_together(self) -> "AccessSettings":
        if "gateway" in self.auth and self.caller_header is None:
            raise ValueError(
                "SIDECALL_AUTH has `gateway`: say in SIDECALL_CALLER_HEADER in which header it names callers"
            )
        if "jwt" in self.auth and not (self.jwt_issuer and self.jwt_audience):
            raise ValueError("SIDECALL_AUTH has `jwt`: set SIDECALL_JWT_ISSUER and SIDECALL_JWT_AUDIENCE")
        for name in ("tenant_header", "scopes_header", "gateways"):
            if getattr(self, name) and self.caller_header is None:
                raise ValueError(f"SIDECALL_{name.upper()} has no effect without SIDECALL_CALLER_HEADER")
        return self

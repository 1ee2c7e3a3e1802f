"""What an operator may set about the tools that ship; they read it from the environment, as tools do."""

from typing import Annotated, Any

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode

from sidecall.outgoing.patterns import parse_hosts

_Domains = Annotated[tuple[str, ...], NoDecode]


class ShippedToolSettings(BaseSettings):
    """Where they may go."""

    fetch_allowed_domains: _Domains = Field(
        default=(),
        description="The only domains that `web_fetch` reads, with all below them, separated by commas: "
        "`example.com,python.org`.",
    )
    fetch_blocked_domains: _Domains = Field(
        default=(), description="Domains that `web_fetch` does not read, nor anything below them, whatever is allowed."
    )

    @field_validator("fetch_allowed_domains", "fetch_blocked_domains", mode="before")
    @classmethod
    def _split_domains(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("fetch_allowed_domains", "fetch_blocked_domains")
    @classmethod
    def _are_domains(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in parse_hosts(entries):
            if pattern.is_wildcard or pattern.network is not None or pattern.port is not None:
                raise ValueError(f"{pattern.text!r} is no domain: write example.com, which stands for all below it")
        return entries

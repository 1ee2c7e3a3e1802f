"""Settings for outgoing requests."""

from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from sidecall.kernel.variables import SPLIT, Texts
from sidecall.outgoing.addresses import names_host
from sidecall.outgoing.patterns import parse_hosts


class OutgoingSettings(BaseSettings):
    """Allowed hosts and size limits; clients read them from the environment when they are made."""

    model_config = SettingsConfigDict(env_prefix="SIDECALL_", env_ignore_empty=True, frozen=True, extra="forbid")

    outgoing_hosts: Texts = Field(
        default=(),
        description="The only hosts that tools reach, separated by commas: `api.example.com`, `*.example.org`, "
        "`example.net:8443`. The default is every public one.",
    )
    outgoing_private_hosts: Texts = Field(
        default=(),
        description="Hosts that tools reach although they are not public, and networks of such: `wiki.corp`, "
        "`localhost:9000`, `10.1.0.0/16`.",
    )
    outgoing_ports: Annotated[tuple[Annotated[int, Field(ge=1, le=65535)], ...], NoDecode, SPLIT] = Field(
        default=(80, 443), description="Ports that tools reach at every host, separated by commas."
    )
    outgoing_max_bytes: int = Field(
        default=10 * 1024 * 1024, ge=1024, description="Most bytes of one answer that a tool reads, also unpacked."
    )
    outgoing_timeout: float = Field(
        default=30.0, gt=0, allow_inf_nan=False, description="Seconds that one request of a tool may take as a whole."
    )
    outgoing_proxy: str | None = Field(
        default=None,
        description="Proxy for requests of tools and for an issuer's keys, such as `http://proxy.corp:3128`. It "
        "resolves the names, so that it has to refuse those that lead inside.",
    )

    @field_validator("outgoing_hosts", "outgoing_private_hosts")
    @classmethod
    def _are_outgoing_hosts(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        if entries:
            parse_hosts(entries)
        return entries

    @field_validator("outgoing_proxy")
    @classmethod
    def _is_outgoing_proxy(cls, text: str | None) -> str | None:
        if text is not None and not names_host(text):
            raise ValueError("write a URL such as http://proxy.corp:3128")
        return text

"""Settings of a fleet: where its bus is, which tools run on its workers, and the keys of what crosses."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from sidecall.kernel.core.options import check_queue
from sidecall.kernel.variables import Texts
from sidecall.settings.secrets import require_keys

# A comma elsewhere is of a password.
_NEXT = re.compile(r",(?=\s*(?:nats|tls)://)")
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


class FleetSettings(BaseSettings, defer_build=True):
    """Where tools run that do not run in this process, and what protects the way there."""

    fleet_key: SecretStr | None = Field(
        default=None,
        description="What everything between servers and workers is encrypted with: the base64 of 32 random bytes, as "
        "of `openssl rand -base64 32`. Several, separated by spaces, while it is changed: the first encrypts. Without "
        "one the bus must be on this machine.",
    )
    fleet: SecretStr | None = Field(
        default=None,
        description="The NATS server over which tools run on workers: `nats://127.0.0.1:4222`, or "
        "`tls://USER:PASSWORD@bus.example.com:4222`; of a cluster several, separated by commas. Without it all tools "
        "run here.",
    )
    fleet_ca: str | None = Field(
        default=None,
        description="The PEM file of the authority that has signed the certificate of the bus, where the system does "
        "not know it.",
    )
    fleet_credentials: str | None = Field(
        default=None,
        description="The file of credentials (`.creds`) with which NATS knows servers and workers, where its accounts "
        "have them instead of passwords.",
    )
    placement: Texts = Field(
        default=(),
        description="Which tools run on which queue's workers, separated by commas: `gpu=tag:vision,cpu=crunch*`. The "
        "first that fits counts, and goes before the tool's own `queue`. Only with SIDECALL_FLEET.",
    )
    fleet_max_waiting: int = Field(
        default=10_000,
        ge=1,
        description="Most calls of a queue that wait here for a worker; more are answered with 503.",
    )

    @field_validator("fleet_key")
    @classmethod
    def _are_fleet_keys(cls, secret: SecretStr | None) -> SecretStr | None:
        require_keys([] if secret is None else secret.get_secret_value().split())
        return secret

    @field_validator("fleet")
    @classmethod
    def _is_bus(cls, url: SecretStr | None, given: ValidationInfo) -> SecretStr | None:
        if url is None:
            return None
        hosts = {_find_host(it) for it in _split(url)}
        # A key that is wrong is not in what is given, and is reported by itself.
        if "fleet_key" in given.data and given.data["fleet_key"] is None and not hosts <= _LOOPBACK:
            raise ValueError(
                "without SIDECALL_FLEET_KEY the bus must be on this machine: others on its network could run tools "
                "and read what they are given"
            )
        return url

    @field_validator("fleet_ca", "fleet_credentials")
    @classmethod
    def _is_file(cls, path: str | None) -> str | None:
        if path is not None and not Path(path).is_file():
            raise ValueError("there is no such file")
        return path

    @field_validator("placement")
    @classmethod
    def _are_rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            queue, equals, wanted = rule.partition("=")
            if not equals or not wanted.removeprefix("tag:"):
                raise ValueError(f"{rule!r} is no rule; write QUEUE=NAME, QUEUE=NAM* or QUEUE=tag:TAG")
            check_queue(queue)
        return rules

    @property
    def fleet_urls(self) -> tuple[str, ...]:
        """The addresses of the bus; none where there is no fleet."""
        return () if self.fleet is None else tuple(_split(self.fleet))

    @property
    def fleet_keys(self) -> list[str]:
        """The list of keys; the first encrypts."""
        return [] if self.fleet_key is None else self.fleet_key.get_secret_value().split()


def _split(urls: SecretStr) -> list[str]:
    return [url.strip() for url in _NEXT.split(urls.get_secret_value())]


def _find_host(url: str) -> str:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  it raises where there is none
    except ValueError:
        raise ValueError("the address of the bus is none; write nats://HOST:PORT") from None
    if parts.scheme not in ("nats", "tls") or not parts.hostname:
        raise ValueError("write nats://HOST:PORT or tls://HOST:PORT")
    return parts.hostname

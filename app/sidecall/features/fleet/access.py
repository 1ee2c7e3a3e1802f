"""How a process gets onto the bus: where that is, what the process is called there, and what encrypts."""

import base64
import binascii
import os
import re
import socket
import ssl
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

from sidecall.kernel.core.errors import SidecallError
from sidecall.lazy_imports import Later

_ed25519 = Later("cryptography.hazmat.primitives.asymmetric.ed25519")

# A file of credentials has two such parts: a token, and the seed of a key.
_PART = re.compile(r"-----BEGIN ([A-Z ]+)-----\s*([A-Za-z0-9_.=-]+)\s*-+END")
# A seed's bytes are between two that say whose it is, and two that check it.
_SEED = slice(2, 34)


class CredentialsUnusable(SidecallError):
    """The file of SIDECALL_FLEET_CREDENTIALS has no credentials of NATS, or what signs is not installed."""


class NoBus(SidecallError):
    """The settings name no bus."""


def name_process() -> str:
    """Return by what people know this process: its machine and number."""
    return f"{socket.gethostname()}-{os.getpid()}"


class NamesBus(Protocol):
    """The settings that say how to get onto the bus."""

    @property
    def fleet_urls(self) -> tuple[str, ...]:
        """Its addresses; none where there is no fleet."""

    @property
    def fleet_keys(self) -> list[str]:
        """What encrypts."""

    @property
    def fleet_ca(self) -> str | None:
        """The file of the authority of its certificate."""

    @property
    def fleet_credentials(self) -> str | None:
        """The file of the credentials."""


@dataclass(frozen=True, slots=True)
class BusAccess:
    """Where the bus is, the keys of what crosses it, and the files of an authority and of credentials."""

    urls: tuple[str, ...]
    keys: tuple[str, ...] = ()
    ca: str | None = None
    credentials: str | None = None

    @classmethod
    def read(cls, settings: NamesBus) -> "BusAccess | None":
        """Read it from the settings; None where they name no bus."""
        if not settings.fleet_urls:
            return None
        return cls(settings.fleet_urls, tuple(settings.fleet_keys), settings.fleet_ca, settings.fleet_credentials)

    @classmethod
    def require(cls, settings: NamesBus) -> "BusAccess":
        """Read it from the settings.

        Raises:
            NoBus: They name none.
        """
        access = cls.read(settings)
        if access is None:
            raise NoBus("SIDECALL_FLEET has to name the bus, as it does for the servers: nats://HOST:PORT.")
        return access

    def list_options(self) -> dict[str, Any]:
        """List with what NATS's client connects.

        Raises:
            CredentialsUnusable: The credentials are none.
            OSError: A file cannot be read.
        """
        parts = [urlsplit(url) for url in self.urls]
        bare = [urlunsplit(it._replace(netloc=it.netloc.rpartition("@")[2])) for it in parts]
        return {"servers": bare, "tls": self._open_tls(), **self._identify(parts[0].username, parts[0].password)}

    def _open_tls(self) -> ssl.SSLContext | None:
        if self.ca is None and not any(url.startswith("tls:") for url in self.urls):
            return None
        context = ssl.create_default_context()
        if self.ca is not None:
            context.load_verify_locations(self.ca)
        return context

    def _identify(self, user: str | None, password: str | None) -> dict[str, Any]:
        if self.credentials is not None:
            file = Path(self.credentials)
            _read_credentials(file)
            # At each connection, since they may have been changed.
            return {"user_jwt_cb": partial(_read_token, file), "signature_cb": partial(_sign, file)}
        if user is None:
            return {}
        if password is None:
            return {"token": unquote(user)}
        return {"user": unquote(user), "password": unquote(password)}


def _read_credentials(file: Path) -> tuple[str, Any]:
    """Return the token and the key of a file."""
    said = dict(_PART.findall(file.read_text()))
    token, seed = said.get("NATS USER JWT"), said.get("USER NKEY SEED", "")
    try:
        secret = base64.b32decode(seed + "=" * (-len(seed) % 8))[_SEED]
        if token is None or len(secret) != _SEED.stop - _SEED.start:
            raise ValueError
        return token, _ed25519.Ed25519PrivateKey.from_private_bytes(secret)
    except (ValueError, binascii.Error):
        raise CredentialsUnusable(f"{file} has no credentials of NATS; `nsc generate creds` writes them.") from None
    except ImportError:
        raise CredentialsUnusable(
            "SIDECALL_FLEET_CREDENTIALS needs an extra: pip install 'sidecall[fleet,secrets]'"
        ) from None


def _read_token(file: Path) -> bytes:
    return _read_credentials(file)[0].encode()


def _sign(file: Path, nonce: str) -> bytes:
    return base64.b64encode(_read_credentials(file)[1].sign(nonce.encode()))

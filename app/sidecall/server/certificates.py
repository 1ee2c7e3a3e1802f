"""The certificate with which a server speaks HTTPS, which may be replaced while it serves."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sidecall.kernel.core.errors import SidecallError


class InvalidCertificate(SidecallError):
    """The files for TLS cannot be used."""


def require_fitting(certificate: Path, key: Path) -> None:
    """Check that a certificate and its key can be read, and belong together.

    Raises:
        InvalidCertificate: They do not.
    """
    named = f"SIDECALL_TLS_CERT is {certificate} and SIDECALL_TLS_KEY is {key}"
    try:
        # Without a password, or OpenSSL would ask the terminal for one.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        why = (
            "the key is not that of the certificate" if "MISMATCH" in str(error) else f"they are no such files: {error}"
        )
        raise InvalidCertificate(f"{named}; {why}.") from None
    except OSError as error:
        raise InvalidCertificate(f"{named}; one cannot be read: {error.strerror}.") from None


class Certificates:
    """A certificate and its key, as the files were when they were last read. New connections use them.

    An SSLContext keeps a certificate of each kind of key, so that one with another kind would not replace it: new
    connections get a context of their own instead.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        """Name the files."""
        self._certificate, self._key = certificate, key
        self._make: Callable[[], ssl.SSLContext] | None = None
        self._text = self._read()
        self._prepared: tuple[ssl.SSLContext, bytes] | None = None
        self._current: ssl.SSLContext | None = None

    def make_context(self, _config: Any, make: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
        """Return the context of the server, for uvicorn; `make` reads the files."""
        self._make = make
        context = make()
        context.sni_callback = self._choose
        return context

    def _choose(self, connection: Any, _name: str | None, _context: ssl.SSLContext) -> None:
        # Called for each handshake, also of a client that names no server.
        if self._current is not None:
            connection.context = self._current

    def _read(self) -> bytes:
        try:
            return self._certificate.read_bytes() + self._key.read_bytes()
        except OSError:  # Which is said where the files are checked.
            return b""

    def prepare(self) -> None:
        """Read the files again; `take` or `discard` has to follow.

        Raises:
            InvalidCertificate: They cannot be used, and what serves goes on.
        """
        self._prepared = None
        require_fitting(self._certificate, self._key)
        if self._make is not None:
            try:
                self._prepared = self._make(), self._read()
            except (OSError, ssl.SSLError) as error:  # They were written at this moment.
                raise InvalidCertificate(f"SIDECALL_TLS_CERT is {self._certificate}; it changed: {error}.") from None

    def take(self) -> bool:
        """Use what was prepared for new connections, and return whether it is another one."""
        prepared, self._prepared = self._prepared, None
        if prepared is None or prepared[1] == self._text:
            return False
        self._current, self._text = prepared
        return True

    def discard(self) -> None:
        """Forget what was prepared."""
        self._prepared = None

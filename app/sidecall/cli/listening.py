"""The address on which `sidecall serve` listens, and which ones it refuses."""

import errno
import logging
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from sidecall.kernel.core.errors import SidecallError
from sidecall.server.certificates import InvalidCertificate, require_fitting
from sidecall.server.signals import START_FAILED
from sidecall.settings import Settings

logger = logging.getLogger("sidecall")

# Connections that may wait until they are accepted; the system allows fewer, Linux 4,096. Where more come at once, each
# of the others tries again after a second or more.
BACKLOG = 16_384

_REMEDIES = {
    errno.EADDRNOTAVAIL: "no interface of this machine has this address; choose another with --host or SIDECALL_HOST",
    errno.EACCES: "ports below 1024 are for root; choose another with --port or SIDECALL_PORT",
}


class OpenToAll(SidecallError):
    """Everybody who reaches the server could do everything."""


def find_address(settings: Settings) -> tuple[int, Any]:
    """Return the address family and address to listen on; a name with several is reduced to one.

    Raises:
        OSError: It is none.
        UnicodeError: It is none.
    """
    found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return found[0][0], found[0][4]


def refuse_open(settings: Settings) -> None:
    """Refuse to listen beyond loopback without authentication, unless the operator insists.

    Raises:
        OpenToAll: It would listen elsewhere.
    """
    if settings.auth != ("none",) or settings.allow_unauthenticated:
        return
    if settings.unix is not None:
        if int(settings.unix_mode, 8) & 0o002:
            raise OpenToAll(
                f"Everybody on this machine could call every tool, since callers need no credentials and "
                f"SIDECALL_UNIX_MODE is {settings.unix_mode}: write 600 or 660, or set SIDECALL_AUTH=api_key."
            )
        return
    _, address = find_address(settings)
    # A scope of IPv6 (%eth0) is none of the address.
    if not ip_address(address[0].partition("%")[0]).is_loopback:
        raise OpenToAll(
            f"Everyone who reaches {settings.host} could call every tool, since callers need no credentials. Make a "
            "key with `sidecall keys new NAME` and set SIDECALL_AUTH=api_key; or listen on 127.0.0.1; or, where nobody "
            "else reaches the port, set SIDECALL_ALLOW_UNAUTHENTICATED=true."
        )


def listen(settings: Settings, backlog: int = 0) -> socket.socket:
    """Bind the address and listen; exit if that fails."""
    if settings.unix is not None:
        return _listen_at(settings.unix, int(settings.unix_mode, 8), backlog)
    family, address = find_address(settings)
    sock = socket.socket(family)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        if backlog:
            sock.listen(backlog)
    except OSError as error:
        sock.close()
        remedy = _REMEDIES.get(error.errno or 0, "choose another with --port or SIDECALL_PORT")
        logger.error("cannot listen on %s:%s: %s; %s", *address[:2], error.strerror or error, remedy)
        sys.exit(START_FAILED)
    return sock


def require_pair(settings: Settings) -> None:
    """Check that the certificate and its key are there, and belong together.

    Raises:
        InvalidCertificate: They do not.
    """
    certificate, key = settings.tls_cert, settings.tls_key
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        raise InvalidCertificate(
            "SIDECALL_TLS_CERT and SIDECALL_TLS_KEY (--tls-cert, --tls-key) go together: set both."
        )
    require_fitting(certificate, key)


def _listen_at(path: Path, mode: int, backlog: int) -> socket.socket:
    """Bind a Unix socket, in place of one that no server listens on any more; exit if that fails."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        if path.exists() or path.is_symlink():
            _remove_stale(path)
        sock.bind(str(path))
        path.chmod(mode)
        if backlog:
            sock.listen(backlog)
    except OSError as error:
        sock.close()
        logger.error("cannot listen on %s: %s; SIDECALL_UNIX (--unix) says where", path, error.strerror or error)
        sys.exit(START_FAILED)
    return sock


def _remove_stale(path: Path) -> None:
    """Remove the file of a server that is gone.

    Raises:
        OSError: It is no socket, or a server listens on it.
    """
    if not stat.S_ISSOCK(path.lstat().st_mode):
        raise OSError(errno.EEXIST, "there is a file that is no socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise OSError(errno.EADDRINUSE, "a server listens there")


@contextmanager
def removing(path: Path | None) -> Iterator[None]:
    """Remove the file of a socket at the end."""
    try:
        yield
    finally:
        if path is not None:
            path.unlink(missing_ok=True)

"""The files of a certificate are read again, and only whole ones are used."""

import ssl
from pathlib import Path

import pytest

from sidecall.server.certificates import Certificates, InvalidCertificate
from tests.e2e.test_tls import write_pair


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate and its key."""
    return write_pair(tmp_path, "one")


def make(files: tuple[Path, Path]) -> tuple[Certificates, ssl.SSLContext]:
    """Make what reads them, and the context of a server."""

    def read() -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        return context

    made = Certificates(*files)
    return made, made.make_context(None, read)


def renew(files: tuple[Path, Path], folder: Path, name: str) -> None:
    """Write another certificate and key into the same files."""
    for file, other in zip(files, write_pair(folder, name), strict=True):
        file.write_bytes(other.read_bytes())


class Handshake:
    """A connection that begins."""

    context: ssl.SSLContext | None = None


def test_new_connections_get_the_latest(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Once it is taken; before the first reload there is the context of the start."""
    made, context = make(files)
    first, prepared, second = Handshake(), Handshake(), Handshake()
    context.sni_callback(first, None, context)  # type: ignore[misc]
    renew(files, tmp_path, "two")
    made.prepare()
    context.sni_callback(prepared, None, context)  # type: ignore[misc]
    taken = made.take()
    context.sni_callback(second, "example.com", context)  # type: ignore[misc]

    assert (first.context, prepared.context, taken) == (None, None, True)
    assert second.context not in (None, context)


def test_files_that_are_as_before_are_no_change(files: tuple[Path, Path], tmp_path: Path) -> None:
    """And what was discarded is taken by no later turn."""
    made, _ = make(files)
    made.prepare()
    same = made.take()
    renew(files, tmp_path, "two")
    made.prepare()
    made.discard()

    assert (same, made.take()) == (False, False)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("certificate", "they are no such files"),
        ("key", "they are no such files"),
        ("pair", "the key is not that of the certificate"),
        ("gone", "one cannot be read: No such file or directory"),
    ],
)
def test_what_is_broken_is_refused(files: tuple[Path, Path], tmp_path: Path, broken: str, reason: str) -> None:
    """And nothing is prepared."""
    made, context = make(files)
    certificate, key = files
    if broken == "gone":
        key.unlink()
    elif broken == "pair":
        key.write_bytes(write_pair(tmp_path, "two")[1].read_bytes())
    else:
        (certificate if broken == "certificate" else key).write_text("nothing")
    connection = Handshake()

    with pytest.raises(InvalidCertificate, match=reason):
        made.prepare()
    assert made.take() is False
    context.sni_callback(connection, None, context)  # type: ignore[misc]
    assert connection.context is None

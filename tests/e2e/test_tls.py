"""A server speaks HTTPS with the files that are named."""

import asyncio
import os
import signal
import socket
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from bench.servers import plain_environment
from tests.e2e.conftest import Serve
from tests.kit.forked import run_sidecall
from tests.kit.servers import Server
from tests.kit.waiting import until


def write_pair(folder: Path, name: str, *, uses_rsa: bool = False) -> tuple[Path, Path]:
    """Write a certificate of its own for 127.0.0.1, and its key."""
    elliptic = ec.generate_private_key(ec.SECP256R1())
    key = rsa.generate_private_key(65537, 2048) if uses_rsa else elliptic
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
    files = folder / f"{name}.crt", folder / f"{name}.key"
    files[0].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return files


@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_serves_https(start_server: Serve, tmp_path: Path, workers: str) -> None:
    """One client after another is answered, those whose request is refused unread included."""
    certificate, key = write_pair(tmp_path, "one")
    server = start_server("--tls-cert", str(certificate), "--tls-key", str(key), "--workers", workers)
    trusting = ssl.create_default_context(cafile=str(certificate))
    url = f"https://127.0.0.1:{server.port}"
    with httpx.Client(base_url=url, verify=trusting, timeout=20) as client:
        call = {"name": "calculator", "args": {"expression": "6 * 7"}}
        answers = [client.post("/tool_calls", json=call).json()["content"] for _ in range(2)]
        refused = client.post("/tool_calls", content=b" " * 5_000_000, headers={"Content-Type": "application/json"})

    assert answers == ["42", "42"]
    assert refused.status_code == 413
    assert server.stop() == 0


@pytest.mark.usefixtures("origin")
def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    """Before anything is served."""
    (one, _), (_, other) = write_pair(tmp_path, "one"), write_pair(tmp_path, "other")
    (tmp_path / "no.crt").write_text("nothing")
    wrong = {
        ("--tls-cert", str(one)): "go together",
        ("--tls-cert", str(one), "--tls-key", str(other)): "the key is not that of the certificate",
        ("--tls-cert", str(one), "--tls-key", "none"): "one cannot be read: No such file or directory",
        ("--tls-cert", "no.crt", "--tls-key", str(other)): "they are no such files",
    }
    for arguments, reason in wrong.items():
        printed = run_sidecall("serve", *arguments, cwd=tmp_path, environment=plain_environment())
        assert printed.returncode == 1
        assert reason in printed.stderr


def see_name(server: Server) -> str:
    """Return the name in the certificate that a new connection gets, without naming a server."""
    trusting_all = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting_all.check_hostname, trusting_all.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", server.port), 20) as plain, trusting_all.wrap_socket(plain) as secure:
        shown = x509.load_der_x509_certificate(secure.getpeercert(binary_form=True) or b"")
    return str(shown.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)[0].value)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_reload_takes_the_files_again(start_server: Serve, tmp_path: Path, workers: str) -> None:
    """Of another kind of key too; what is broken changes nothing, and connections that are there stay."""
    certificate, key = write_pair(tmp_path, "one")
    server = start_server("--tls-cert", str(certificate), "--tls-key", str(key), "--workers", workers)
    url = f"https://127.0.0.1:{server.port}"
    with httpx.Client(base_url=url, verify=False, timeout=60, trust_env=False) as client:

        def renew(name: str, *, uses_rsa: bool = False, fits: bool = True) -> None:
            made = write_pair(tmp_path, name, uses_rsa=uses_rsa)
            certificate.write_bytes(made[0].read_bytes())
            key.write_bytes(made[1].read_bytes() if fits else b"nothing")

        same = client.post("/reload").json()["certificate"]
        renew("two", uses_rsa=True)
        changed = client.post("/reload").json()["certificate"]
        seen = {see_name(server) for _ in range(4)}
        renew("three", fits=False)
        refused = client.post("/reload")
        kept, errors = {see_name(server) for _ in range(4)}, client.get("/status").json()["load_errors"]
        renew("four")
        os.kill(server.process.pid, signal.SIGUSR1)
        asyncio.run(until(lambda: {see_name(server) for _ in range(4)} == {"four"}))
        kinds = [it["details"] for it in client.get("/audit?action=reloaded").json()]

    assert (same, changed, seen, kept) == (False, True, {"two"}, {"two"})
    assert (refused.status_code, refused.json()["errors"][0]["msg"]) == (409, errors[0])
    assert "SIDECALL_TLS_KEY" in errors[0]
    assert "certificate" in str(kinds)

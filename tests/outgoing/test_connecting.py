"""A host proves who it is by its name, no matter what address is connected to."""

import datetime
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sidecall import guarded_async_client, guarded_client
from tests.outgoing.sites import Site, resolve, serving

NAME = "tls.example"


@pytest.fixture(scope="module", name="certificate")
def write_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a certificate of that name that has signed itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM) + secret)
    return path


@pytest.fixture(scope="module", name="site")
def serve_site(certificate: Path) -> Iterator[Site]:
    """Serve one host with TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(context) as site:
        site.give("/", "found")
        yield site


async def test_the_name_is_the_certificates_and_the_requests(
    site: Site, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though an address is connected to."""
    resolve(monkeypatch, lambda _: ["127.0.0.1"])
    trust = ssl.create_default_context(cafile=certificate)
    url = f"https://{NAME}:{site.port}/"
    private = [f"*.example:{site.port}"]

    with guarded_client(private=private, verify=trust) as client:
        first = client.get(url)
    async with guarded_async_client(private=private, verify=trust) as asyncs:
        second = await asyncs.get(url)
        with pytest.raises(httpx.ConnectError, match="mismatch"):
            await asyncs.get(f"https://other.example:{site.port}/")

    assert (first.text, second.text) == ("found", "found")
    assert site.asked == [(f"{NAME}:{site.port}", "/")] * 2


async def test_a_certificate_that_nobody_knows_is_none(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with every client."""
    resolve(monkeypatch, lambda _: ["127.0.0.1"])

    with guarded_client(private=[f"{NAME}:{site.port}"]) as client, pytest.raises(httpx.ConnectError, match="self"):
        client.get(f"https://{NAME}:{site.port}/")

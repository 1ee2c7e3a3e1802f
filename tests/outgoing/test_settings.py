"""What is set about going out is checked at the start."""

import pytest
from pydantic import ValidationError

from sidecall.settings import Settings


def test_lists_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment."""
    monkeypatch.setenv("SIDECALL_OUTGOING_HOSTS", "api.example.com, *.example.org:8443")
    monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", "wiki.corp,10.1.0.0/16,[::1]:9000")
    monkeypatch.setenv("SIDECALL_OUTGOING_PORTS", "443, 8443")

    settings = Settings()

    assert settings.outgoing_hosts == ("api.example.com", "*.example.org:8443")
    assert settings.outgoing_private_hosts == ("wiki.corp", "10.1.0.0/16", "[::1]:9000")
    assert settings.outgoing_ports == (443, 8443)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("OUTGOING_HOSTS", "https://api.example.com", "is no host: write api.example.com"),
        ("OUTGOING_PRIVATE_HOSTS", "10.0.0.1/8", "is no host: write api.example.com"),
        ("OUTGOING_PORTS", "http", "valid integer"),
        ("OUTGOING_PORTS", "0", "greater than or equal to 1"),
        ("OUTGOING_PROXY", "socks5://proxy.corp", "write a URL such as http://proxy.corp:3128"),
        ("OUTGOING_PROXY", "proxy.corp:3128", "write a URL such as http://proxy.corp:3128"),
        ("OUTGOING_MAX_BYTES", "1", "greater than or equal to 1024"),
        ("OUTGOING_TIMEOUT", "0", "greater than 0"),
    ],
)
def test_what_does_not_fit_stops_the_start(monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str) -> None:
    """With what to write."""
    monkeypatch.setenv(f"SIDECALL_{name}", value)

    with pytest.raises(ValidationError, match=reason):
        Settings()

"""An operator names the hosts that may be told."""

import pytest

from sidecall.features.webhooks.hosts import AllowedHost


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("hooks.example.com", AllowedHost("https", "hooks.example.com", 443, is_wildcard=False)),
        ("Hooks.Example.com.", AllowedHost("https", "hooks.example.com", 443, is_wildcard=False)),
        ("https://a.example:8443/", AllowedHost("https", "a.example", 8443, is_wildcard=False)),
        ("*.example.com", AllowedHost("https", "example.com", 443, is_wildcard=True)),
        ("http://localhost:9000", AllowedHost("http", "localhost", 9000, is_wildcard=False)),
        ("http://[::1]", AllowedHost("http", "::1", 80, is_wildcard=False)),
        ("10.0.0.7:8443", AllowedHost("https", "10.0.0.7", 8443, is_wildcard=False)),
    ],
)
def test_entries(text: str, parsed: AllowedHost) -> None:
    """Without `http://` it is https, without a port the scheme's own."""
    assert AllowedHost.parse(text) == parsed


@pytest.mark.parametrize("text", ["", "*", "*.", "a b", "ftp://a", "http://", "a/b", "a:x", "a:0", "a:65536", "u@a"])
def test_no_entries(text: str) -> None:
    """A wildcard needs a name, and a path says nothing."""
    with pytest.raises(ValueError, match=r"is no host: write hooks\.example\.com"):
        AllowedHost.parse(text)


@pytest.mark.parametrize(
    ("text", "is_address"),
    [("localhost", True), ("10.0.0.7", True), ("[::1]", True), ("hooks.example.com", False), ("*.localhost", False)],
)
def test_only_who_names_an_address_means_it(text: str, is_address: bool) -> None:
    """A name may be pointed anywhere by its owner."""
    assert AllowedHost.parse(text).is_address is is_address

"""A URL is told where its host is one of the operator's."""

import pytest

from sidecall.features.webhooks.receivers import AllowedHosts
from sidecall.kernel.core.errors import CallbackRefused

HOSTS = AllowedHosts(["hooks.example.com", "*.example.org:8443", "http://localhost:9000", "[::1]"])


@pytest.mark.parametrize(
    ("url", "host", "port", "is_private"),
    [
        ("https://hooks.example.com/a?b=c", "hooks.example.com", 443, False),
        ("https://HOOKS.example.com.:443", "hooks.example.com", 443, False),
        ("https://a.b.example.org:8443/", "a.b.example.org", 8443, False),
        ("http://localhost:9000/x", "localhost", 9000, True),
        ("https://[::1]/", "::1", 443, True),
    ],
)
def test_who_is_told(url: str, host: str, port: int, is_private: bool) -> None:
    """With what is needed to connect."""
    found = HOSTS.find(url)

    assert (found.host, found.port, found.is_private) == (host, port, is_private)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://localhost.:9000/x?a=%2F", "http://localhost:9000/x?a=%2F"),
        ("https://hooks.example.com./", "https://hooks.example.com/"),
        ("https://HOOKS.example.com/a%20b", "https://hooks.example.com/a%20b"),
        ("https://a.example.org.:8443", "https://a.example.org:8443"),
        ("https://[::1]/", "https://[::1]/"),
    ],
)
def test_the_host_is_told_by_the_name_that_the_operator_gave(url: str, told: str) -> None:
    """Without the dot at its end that not everybody understands; the rest of the URL is as it came."""
    assert str(HOSTS.find(url).url) == told


@pytest.mark.parametrize(
    "url",
    [
        "", "hooks.example.com", "//hooks.example.com", "ftp://hooks.example.com", "file:///etc/passwd", "https://",
        "https://u:p@hooks.example.com", "https://u@hooks.example.com", "https://hooks.example.com#a", "https://a\nb",
    ],
)  # fmt: skip
def test_what_is_no_url_to_tell(url: str) -> None:
    """The answer shows one."""
    with pytest.raises(CallbackRefused, match="is a URL such as https://hooks"):
        HOSTS.find(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/", "https://hooks.example.com:8443/", "https://example.com/",
        "https://example.org:8443/", "https://hooks.example.com.evil.test/", "https://evilexample.org:8443/", "https://localhost:9000/",
        "http://localhost/", "http://127.0.0.1:9000/", "https://0x7f.1/", "https://evil.test/hooks.example.com",
    ],
)  # fmt: skip
def test_others_are_refused(url: str) -> None:
    """Another scheme, another port, or another host."""
    with pytest.raises(CallbackRefused, match="names the hosts where it may with SIDECALL_WEBHOOK_HOSTS"):
        HOSTS.find(url)


def test_nobody_is_told_by_default() -> None:
    """The refusal says what to set."""
    with pytest.raises(CallbackRefused, match=r"WEBHOOK_HOSTS=hooks\.example\.com, with SIDECALL_WEBHOOK_SECRET"):
        AllowedHosts(()).find("https://hooks.example.com/")

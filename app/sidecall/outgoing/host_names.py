"""Hosts that HTTPX accepts and fails at later."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from sidecall.outgoing.patterns import read_address

_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?", re.I)
_MOST_PORT = 65_535


def names_host(address: str) -> bool:
    """Return whether an address with http:// or https:// has a host, by its text."""
    try:
        url = httpx.URL(address)
        host = url.host and url.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return False
    is_host = _NAME.fullmatch(host) is not None or read_address(host) is not None
    return url.scheme in ("http", "https") and is_host and (url.port is None or 0 < url.port <= _MOST_PORT)


@contextmanager
def refuse_nameless() -> Iterator[None]:
    """Refuse an address whose host looks like an international name and is invalid, such as `xn--`.

    Raises:
        httpx.InvalidURL: It is one.
    """
    try:
        yield
    except UnicodeError as error:
        raise httpx.InvalidURL(f"Invalid IDNA hostname: {error}") from None


def drop_nameless(headers: httpx.Headers) -> httpx.Headers:
    """Remove a Location header whose host is invalid.

    HTTPX parses it even if redirects are not followed.
    """
    if "Location" in headers:
        try:
            _ = httpx.URL(headers["Location"]).host
        except UnicodeError:
            del headers["Location"]
        except httpx.InvalidURL:  # HTTPX says so itself.
            return headers
    return headers

"""Addresses as HTTPX reads them, which is loaded with the first: few servers have one."""

import re
from typing import TYPE_CHECKING

from sidecall.lazy_imports import Later
from sidecall.outgoing.patterns import read_address

if TYPE_CHECKING:
    from httpx import URL

_httpx = Later("httpx")

USUAL_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?", re.I)
_MOST_PORT = 65_535


def parse_url(text: str) -> "URL":
    """Parse an address.

    Raises:
        ValueError: HTTPX takes it for none.
    """
    try:
        url: URL = _httpx.URL(text)
    except _httpx.InvalidURL as error:
        raise ValueError(str(error)) from None
    return url


def names_host(address: str) -> bool:
    """Return whether an http(s) address has a host, by its text; HTTPX accepts more and fails later."""
    try:
        url = parse_url(address)
        host = url.host and url.raw_host.decode("ascii")
    except ValueError:
        return False
    is_host = _NAME.fullmatch(host) is not None or read_address(host) is not None
    return url.scheme in ("http", "https") and is_host and (url.port is None or 0 < url.port <= _MOST_PORT)

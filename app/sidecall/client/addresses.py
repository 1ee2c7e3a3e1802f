"""Validate the server's address and credentials at once, before the first request."""

import os
import re
from collections.abc import Mapping
from typing import Any

import httpx

DEFAULT_URL = "http://127.0.0.1:8000"
# What a header may hold; other letters end a connection before it begins, or change on their way.
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_LAST_PORT = 65535
# What is in no name of a machine; such an address would be looked for in vain, again and again.
_NO_HOST = re.compile(r"[\s<>|\\^*\"'`{}]")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def read_address(url: str | None) -> httpx.URL:
    """Return the address of a server; the default is SIDECALL_URL.

    Raises:
        ValueError: It is none.
    """
    said = (url or os.environ.get("SIDECALL_URL") or DEFAULT_URL).strip()
    try:
        address = httpx.URL(said)
    except (httpx.InvalidURL, ValueError) as error:
        raise ValueError(f"{said!r:.200} is no address of a server: give one such as {DEFAULT_URL}") from error
    if address.scheme not in ("http", "https") or not address.host:
        raise ValueError(f"{said!r:.200} begins with neither http:// nor https://: give one such as {DEFAULT_URL}")
    # Of http://http://tools the host is http.
    if re.search(r"\s", said) or _NO_HOST.search(address.host) or address.path.startswith("//"):
        raise ValueError(f"{said!r:.200} is no address of a server: give one such as {DEFAULT_URL}")
    if address.port is not None and not 0 < address.port <= _LAST_PORT:
        raise ValueError(f"{said!r:.200} has a port that there is not: give an address such as {DEFAULT_URL}")
    if address.query or address.fragment:
        raise ValueError(f"{said!r:.200} is no address of a server: leave out what follows ? or #")
    return address


def require_value(text: Any, what: str) -> str:
    """Validate a text as a header's value.

    Raises:
        ValueError: It has a line break, or letters that are none of ASCII.
    """
    if not isinstance(text, str) or not _HEADER_VALUE.fullmatch(text):
        raise ValueError(f"{what} is a text without line breaks, of printable letters of ASCII")
    return text


def require_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Validate headers.

    Raises:
        ValueError: One cannot.
    """
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"{name!r:.200} is no name of a header")
        require_value(value, f"the header {name}")
    return headers


def find_proof(given: Mapping[str, Any], address: httpx.URL) -> Any:
    """Return the credential for each request, a text or a function; None without one.

    The default is SIDECALL_API_KEY.

    Raises:
        ValueError: There are two, or it cannot be sent.
    """
    key, token = given.get("api_key"), given.get("token")
    names = {"api_key": key, "token": token, "the address": address.userinfo or None}
    own = [name for name in given.get("headers", {}) if name.lower() == "authorization"]
    found = [name for name, value in names.items() if value is not None] + [f"the header {name}" for name in own]
    if len(found) > 1:
        raise ValueError(f"give {' or '.join(found)}, not both")
    if callable(token):
        return token
    kept = "" if found and not key else os.environ.get("SIDECALL_API_KEY", "").strip()
    proof = token if token is not None else key or kept
    return require_value(proof, "a key or a token") if proof else None

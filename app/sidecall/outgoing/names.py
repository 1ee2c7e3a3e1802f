"""Hosts whose names HTTPX takes, and fails at later."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx


@contextmanager
def refuse_nameless() -> Iterator[None]:
    """Refuse an address whose host begins as an international name and is none, such as `xn--`.

    Raises:
        httpx.InvalidURL: It is one.
    """
    try:
        yield
    except UnicodeError as error:
        raise httpx.InvalidURL(f"Invalid IDNA hostname: {error}") from None


def drop_nameless(headers: httpx.Headers) -> httpx.Headers:
    """Return the headers of an answer without where it leads, if nothing can lead there.

    HTTPX reads that even where nobody follows it.
    """
    if "Location" in headers:
        try:
            _ = httpx.URL(headers["Location"]).host
        except UnicodeError:
            del headers["Location"]
        except httpx.InvalidURL:  # HTTPX says so itself.
            return headers
    return headers

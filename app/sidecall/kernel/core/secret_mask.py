"""Replace secrets by a mark in everything that leaves the server."""

import base64
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MASKED = "[redacted]"
# A shorter one would mask half of any text, and is none.
_SHORTEST = 4
# Of the lines of a longer secret, such as a certificate's key, each that has so many characters.
_SHORTEST_LINE = 16
# Of what base64 makes of it.
_SHORTEST_CODE = 6


class SecretMask:
    """The secrets of one call, and their usual encodings: JSON, URL, base64 and hex."""

    def __init__(self) -> None:
        self._secrets: dict[str, None] = {}
        self._spellings: list[str] = []

    def add(self, secret: str) -> None:
        """Add a secret; very short ones are not masked."""
        if secret in self._secrets or len(secret) < _SHORTEST:
            return
        self._secrets[secret] = None
        spellings = {spelling for known in self._secrets for spelling in _spell(known)}
        # A longer one first, since a shorter one may stand in it.
        self._spellings = sorted(spellings, key=len, reverse=True)

    @property
    def spellings(self) -> tuple[str, ...]:
        """All masked texts."""
        return tuple(self._spellings)

    def hide_in_text(self, text: str) -> str:
        """Return a text without the secrets."""
        return _hide_in_text(text, self._spellings)

    def hide(self, value: Any) -> Any:
        """Copy a JSON value without the secrets; other objects are passed unchanged."""
        return hide_spellings(value, self._spellings)

    def measure_begun(self, text: str) -> int:
        """Return how many characters at the end of a text may begin a secret."""
        most = 0
        for spelling in self._spellings:
            place = text.find(spelling[0], max(0, len(text) - len(spelling) + 1))
            while 0 <= place < len(text) - most:
                if spelling.startswith(text[place:]):
                    most = len(text) - place
                place = text.find(spelling[0], place + 1)
        return most


def hide_spellings(value: Any, spellings: Collection[str]) -> Any:
    """Copy a JSON value with these spellings masked, longest first."""
    if isinstance(value, str):
        return _hide_in_text(value, spellings)
    if isinstance(value, Mapping):
        return {hide_spellings(key, spellings): hide_spellings(inner, spellings) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [hide_spellings(inner, spellings) for inner in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return MASKED if str(value) in spellings else value
    return value


def _hide_in_text(text: str, spellings: Collection[str]) -> str:
    for spelling in spellings:
        if spelling in text:
            text = text.replace(spelling, MASKED)
    return text


def _spell(secret: str) -> Iterator[str]:
    pieces = [secret, *(line for line in secret.splitlines() if len(line) >= _SHORTEST_LINE)]
    for piece in pieces:
        yield piece
        for is_ascii in (True, False):
            once = json.dumps(piece, ensure_ascii=is_ascii)[1:-1]
            yield once
            yield json.dumps(once, ensure_ascii=is_ascii)[1:-1]
        yield repr(piece)[1:-1]
        octets = piece.encode("utf-8", "surrogatepass")
        for quoted in (quote(octets), quote(octets, safe=""), quote_plus(octets)):
            yield quoted
            yield _lower_codes(quoted)
        yield octets.hex()
        yield octets.hex().upper()
        yield from _encode(octets)


def _lower_codes(quoted: str) -> str:
    head, *rest = quoted.split("%")
    return "%".join([head, *(code[:2].lower() + code[2:] for code in rest)])


def _encode(octets: bytes) -> Iterator[str]:
    """Yield the characters that the base64 of any text with these octets must contain, for each alignment.

    The first and last characters may hold bits of their neighbours and are left out.
    """
    for before in range(3):
        code = base64.b64encode(bytes(before) + octets)
        first = -(-before * 8 // 6)
        last = (before + len(octets)) * 8 // 6
        sure = code[first:last].decode()
        if len(sure) >= _SHORTEST_CODE:
            yield sure
            yield sure.replace("+", "-").replace("/", "_")

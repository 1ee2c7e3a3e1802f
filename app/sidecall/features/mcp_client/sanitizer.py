"""Sanitize texts of a server for display: one line, without control characters and secrets of its entry."""

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from sidecall.features.mcp_client.entries import UpstreamEntry
from sidecall.features.telemetry.redact import Redaction
from sidecall.kernel.core.secret_mask import SecretMask

# Escape sequences of terminals.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_]?)")
# Values that are not secrets: words, paths and plain addresses. A name that marks a secret takes precedence.
_PLAIN = re.compile(r"[A-Za-z]+|[~.]{0,2}/\S*|\w+://[^/@\s]*(?:/[^?@\s]*)?")
_SHORTEST = 8


class EntrySanitizer:
    """Sanitizes texts of one server."""

    def __init__(self, entry: UpstreamEntry) -> None:
        self._mask = SecretMask()
        for secret in _list_secrets(entry):
            self._mask.add(secret)

    def clean(self, text: str, *, is_cut: bool = False) -> str:
        """Return a text without secrets and control characters; one that `is_cut` may end within a secret."""
        text = _ESCAPES.sub("", text)
        if is_cut:
            text = text[: len(text) - self._mask.measure_begun(text)]
        text = self._mask.hide_in_text(text)
        return "".join(sign if sign.isprintable() else " " for sign in text).rstrip()


def _list_secrets(entry: UpstreamEntry) -> Iterator[str]:
    """List the values of an entry that may be secrets, and their parts that may appear alone."""
    redaction = Redaction()
    for name, value in (*entry.env.items(), *entry.headers.items(), *_pair_options(entry.args)):
        if redaction.is_secret(name):
            yield value
            yield from value.split()[1:]  # The token after `Bearer`.
        elif len(value) >= _SHORTEST and not _PLAIN.fullmatch(value):
            yield value
        yield from _list_passwords(value)
    for value in entry.args:
        yield from _list_passwords(value)


def _pair_options(args: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """List the options of a command whose names mark them as secrets."""
    redaction = Redaction()
    for option, following in zip(args, (*args[1:], ""), strict=False):
        name, is_joined, value = option.partition("=")
        if name.startswith("-") and redaction.is_secret(name.lstrip("-")):
            yield name.lstrip("-"), value if is_joined else following


def _list_passwords(value: str) -> Iterator[str]:
    """List the password in an address."""
    try:
        password = urlsplit(value).password if "://" in value else None
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)

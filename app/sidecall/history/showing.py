"""How arguments and answers are written down: without secrets, and no longer than they may be."""

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from sidecall.telemetry.redact import REDACTED, Redaction

# What a value takes beside its texts when it is measured, about.
_BESIDE = 4


class ShownArgs(NamedTuple):
    """Arguments as JSON text, None where they are too long; `is_whole` says that they are just what was sent."""

    text: str | None
    is_whole: bool


class Showing:
    """Write arguments and answers of up to `most` bytes each; of longer texts the head."""

    def __init__(self, redaction: Redaction, most: int) -> None:
        """Take secrets out as a redaction does, which shows texts of up to `most` characters."""
        self._redaction = redaction
        self.most = most

    def write_args(self, args: Mapping[str, Any], hidden: Collection[str] = ()) -> ShownArgs:
        """Write arguments, without those of hidden parameters."""
        own = args if not hidden else {name: value for name, value in args.items() if name not in hidden}
        if _is_short(own, self.most):
            text = write_json(own)
            if len(text) <= self.most and not self._redaction.finds_trace(text):
                return ShownArgs(text, len(own) == len(args))
        shown = self._redaction.redact_fields(own)
        text = write_json(shown)
        return ShownArgs(text if len(text) <= self.most else None, is_whole=False)

    def write_answer(self, content: Any, error: Any, secrets: Collection[str] = ()) -> str:
        """Write what a call was answered as JSON text, without any of these secrets."""
        if type(content) is str:
            content = self._show_text(content)
        answer = {"content": content} if error is None else {"content": content, "error": self._show_error(error)}
        text = write_json(answer)
        return self.hide(text, secrets) or text

    def hide(self, text: str | None, secrets: Collection[str]) -> str | None:
        """Put a mark in the place of these secrets, wherever they stand in a JSON text."""
        for secret in secrets if text else ():
            text = text and text.replace(write_json(secret)[1:-1], REDACTED)
        return text

    def shorten(self, content: Any) -> Any:
        """Return a content that is no text, without secrets, and in no more than `most` bytes."""
        if content is None:
            return ""
        shown = self._redaction.redact(content)
        return shown if len(write_json(shown)) <= self.most else f"an answer of {len(content)} parts"

    def cut(self, text: str) -> str:
        """Return the head of a long text."""
        return f"{text[: self.most]}… {len(text) - self.most} more characters"

    def _show_text(self, text: str) -> str:
        """Look into a text that is JSON, since the names of its fields tell what is secret."""
        if not text[:1000].lstrip().startswith(("{", "[")) or not self._redaction.finds_trace(text):
            return text
        shown = self._redaction.redact(text)
        return shown if isinstance(shown, str) else write_json(shown)

    def _show_error(self, error: Mapping[str, Any]) -> Any:
        shown = self._redaction.redact(error)
        return shown if len(write_json(shown)) <= self.most else {name: shown.get(name) for name in ("kind", "message")}


def _is_short(value: Any, most: int) -> bool:
    """Return whether JSON of a value may have no more than so many bytes, without a look at more than that."""
    left = [value]
    while left and most >= 0:
        one = left.pop()
        most -= _BESIDE
        if isinstance(one, str):
            most -= len(one)
        elif isinstance(one, int):
            most -= one.bit_length() // 8
        elif isinstance(one, (Mapping, list, tuple)):
            if len(one) > most:
                return False
            left.extend((*one, *one.values()) if isinstance(one, Mapping) else one)
    return most >= 0


def write_json(value: Any) -> str:
    """Write a value as JSON text; what JSON does not have is written as text."""
    try:
        return to_json(value, fallback=str).decode()
    except ValueError:  # A text without a UTF-8 form.
        return json.dumps(value, default=str, separators=(",", ":"))


def read_json(text: str | None) -> Any:
    """Read what was written here."""
    if text is None:
        return None
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)

"""Arguments and answers as they are stored: without secrets, and cut to the bounds."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from sidecall.features.telemetry.redact import Redaction
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.json_data.text import read_args
from sidecall.kernel.json_data.to_json import replace_surrogates

# Bytes of a value besides its texts, about.
_BESIDE = 4
# Cached sets of names, each with whether one of them is a secret's.
_MOST_KNOWN = 1024
_PLAIN = frozenset((int, float, bool, type(None)))


class ShownArgs(NamedTuple):
    """Arguments for storage, None if they are too long; `is_whole` if they are just what was sent."""

    args: Any
    is_whole: bool


class CallRedactor:
    """Copy arguments and answers, redacted and up to `most` bytes each; longer texts are cut."""

    def __init__(self, redaction: Redaction, most: int) -> None:
        """Take the redaction, and the maximum number of bytes."""
        self._redaction = redaction
        self._are_harmless: dict[tuple[str, ...], bool] = {}
        self.most = most

    def measure_if_plain(self, args: Mapping[str, Any]) -> int | None:
        """Return the approximate size of arguments that can be stored unchanged; None if that is not obvious.

        Most can: they are few, short, and none of them is a container or a text that may be one.
        """
        names = tuple(args)
        is_harmless = self._are_harmless.get(names)
        if not (self._look_at(names) if is_harmless is None else is_harmless):
            return None
        size = 0
        for value in args.values():
            kind = type(value)
            if kind is str:
                if "{" in value or "[" in value:
                    return None
                size += len(value)
            elif kind not in _PLAIN:
                return None
        return size if size <= self.most else None

    def _look_at(self, names: tuple[str, ...]) -> bool:
        if len(self._are_harmless) >= _MOST_KNOWN:
            self._are_harmless.clear()
        if len(names) > self._redaction.most_items or sum(map(len, names)) > self.most:
            return False
        is_harmless = not any(map(self._redaction.has_to_do_with_secrets, names))
        self._are_harmless[names] = is_harmless
        return is_harmless

    def show_args(self, args: Mapping[str, Any], hidden: Collection[str] = ()) -> ShownArgs:
        """Copy arguments without hidden parameters."""
        own = args if not hidden else {name: value for name, value in args.items() if name not in hidden}
        if _is_short(own, self.most):
            text = write_shown(own)
            if len(text) <= self.most and not self._redaction.finds_trace(text):
                return ShownArgs(read_shown(text), len(own) == len(args))
        shown = self._redaction.redact_fields(own)
        return ShownArgs(shown if len(write_shown(shown)) <= self.most else None, is_whole=False)

    def show_content(self, content: Any) -> Any:
        """Copy a content; a text that is JSON is parsed, since field names mark secrets."""
        if type(content) is not str:
            shown = self._redaction.redact(content)
            return shown if len(write_shown(shown)) <= self.most else f"an answer of {len(content)} parts"
        if content[:1000].lstrip().startswith(("{", "[")) and self._redaction.finds_trace(content):
            shown = self._redaction.redact(content)
            content = shown if isinstance(shown, str) else write_shown(shown)
        rest = len(content) - self.most
        return content if rest <= 0 else f"{content[: self.most]}… {rest} more characters"

    def show_notes(self, notes: Sequence[str]) -> list[str]:
        """Copy as much of the notes on arguments as there is room for."""
        shown, left = [], self.most
        for note in notes:
            left -= len(note) + _BESIDE
            if left < 0:
                break
            shown.append(note)
        return list(self._redaction.redact(shown))

    def show_error(self, error: Mapping[str, Any]) -> Any:
        """Copy an answer's error."""
        text = write_shown(error)
        if len(text) <= self.most and not self._redaction.finds_trace(text):
            return read_shown(text)
        shown = self._redaction.redact(error)
        return (
            shown if len(write_shown(shown)) <= self.most else {name: shown.get(name) for name in ("kind", "message")}
        )


def _is_short(value: Any, most: int) -> bool:
    """Return whether the JSON of a value may fit into so many bytes, reading no more than that."""
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


def write_shown(value: Any) -> str:
    """Write a value as JSON text; values outside of JSON become texts."""
    try:
        return to_json(value, fallback=str).decode()
    except ValueError:  # A text without a UTF-8 form.
        return json.dumps(value, default=str, separators=(",", ":"))


def read_shown(text: str | bytes) -> Any:
    """Read the output of `write_shown`."""
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)


def show_with(redaction: Redaction) -> Callable[[ToolCall], str | None]:
    """Return what writes the arguments of a call as they may be shown."""
    showing = CallRedactor(redaction, redaction.longest)

    def show(call: ToolCall) -> str | None:
        args = call.args
        if type(args) is dict and showing.measure_if_plain(args) is not None:
            return to_json(args, inf_nan_mode="strings").decode()  # Most have nothing to hide, and are short.
        shown = redaction.redact(read_args(args))
        try:
            return to_json(shown).decode()
        except ValueError:  # Argument texts may have no UTF-8 form; lists are read as JSON.
            return replace_surrogates(json.dumps(shown, ensure_ascii=False, default=str, separators=(",", ":")))

    return show
